// SPDX-License-Identifier: MIT
// Part of Souk's test chain, written by the project for it. Not the published x402 proxy, not audited:
// never deploy it to a real network.
pragma solidity 0.8.37;

import {EIP2612Permit, Permit2Proxy, PermitTransferFrom} from "./Permit2Proxy.sol";

/// Moves any amount up to the permitted one. Only the facilitator named in the witness may call it, since the
/// caller chooses the amount.
contract UptoPermit2Proxy is Permit2Proxy {
    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    bytes32 public constant WITNESS_TYPEHASH =
        keccak256("Witness(address to,address facilitator,uint256 validAfter)");
    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)";

    error AmountExceedsPermitted();
    error UnauthorizedFacilitator();

    constructor(address permit2) Permit2Proxy(permit2) {}

    function settle(
        PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external nonReentrant {
        pay(permit, amount, owner, witness, signature);
        emit Settled();
    }

    function settleWithPermit(
        EIP2612Permit calldata permit2612,
        PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external nonReentrant {
        allowPermit2(permit2612, permit, owner);
        pay(permit, amount, owner, witness, signature);
        emit SettledWithPermit();
    }

    function pay(
        PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) private {
        if (msg.sender != witness.facilitator) revert UnauthorizedFacilitator();
        if (amount > permit.permitted.amount) revert AmountExceedsPermitted();
        bytes32 witnessHash =
            keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.facilitator, witness.validAfter));
        transferThroughPermit2(
            permit, amount, owner, witness.to, witness.validAfter, witnessHash, WITNESS_TYPE_STRING, signature
        );
    }
}
