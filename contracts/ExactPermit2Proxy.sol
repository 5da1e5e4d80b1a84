// SPDX-License-Identifier: MIT
// Part of Souk's test chain, written by the project for it. Not the published x402 proxy, not audited:
// never deploy it to a real network.
pragma solidity 0.8.37;

import {EIP2612Permit, Permit2Proxy, PermitTransferFrom} from "./Permit2Proxy.sol";

/// Moves exactly the permitted amount. Anyone may call it: the witness fixes the receiver.
contract ExactPermit2Proxy is Permit2Proxy {
    struct Witness {
        address to;
        uint256 validAfter;
    }

    bytes32 public constant WITNESS_TYPEHASH = keccak256("Witness(address to,uint256 validAfter)");
    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)";

    error InvalidAmount();

    constructor(address permit2) Permit2Proxy(permit2) {}

    function settle(
        PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external nonReentrant {
        pay(permit, owner, witness, signature);
        emit Settled();
    }

    function settleWithPermit(
        EIP2612Permit calldata permit2612,
        PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external nonReentrant {
        allowPermit2(permit2612, permit, owner);
        pay(permit, owner, witness, signature);
        emit SettledWithPermit();
    }

    function pay(
        PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) private {
        if (permit.permitted.amount == 0) revert InvalidAmount();
        bytes32 witnessHash = keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.validAfter));
        transferThroughPermit2(
            permit,
            permit.permitted.amount,
            owner,
            witness.to,
            witness.validAfter,
            witnessHash,
            WITNESS_TYPE_STRING,
            signature
        );
    }
}
