// SPDX-License-Identifier: MIT
// Part of Souk's test chain, written by the project for it. Not audited: never deploy it to a real network.
pragma solidity 0.8.37;

/// A smart wallet with one owner key (ERC-1271). A signature is the owner's 65 bytes, or those and one byte
/// more: real wallets' signatures have other lengths than 65, and callers take another path for them.
contract TestWallet {
    bytes4 internal constant VALID = 0x1626ba7e;
    address public immutable owner;

    error NotOwner();

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view virtual returns (bytes4) {
        return signedByOwner(hash, signature) ? VALID : bytes4(0xffffffff);
    }

    /// The owner acts through the wallet: approve, cancel, transfer.
    function execute(address to, bytes calldata data) external returns (bytes memory) {
        if (msg.sender != owner) revert NotOwner();
        (bool ok, bytes memory result) = to.call(data);
        if (!ok) {
            assembly {
                revert(add(result, 32), mload(result))
            }
        }
        return result;
    }

    function signedByOwner(bytes32 hash, bytes calldata signature) internal view returns (bool) {
        if (signature.length != 65 && signature.length != 66) return false;
        address signer =
            ecrecover(hash, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
        return signer != address(0) && signer == owner;
    }
}

/// The same wallet, but judging a signature burns about `gasToBurn` gas first: what a relayer's gas cap is for.
contract CostlyWallet is TestWallet {
    uint256 public immutable gasToBurn;

    constructor(address owner_, uint256 gasToBurn_) TestWallet(owner_) {
        gasToBurn = gasToBurn_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view override returns (bytes4) {
        uint256 gasAtStart = gasleft();
        while (gasAtStart - gasleft() < gasToBurn) {}
        return signedByOwner(hash, signature) ? VALID : bytes4(0xffffffff);
    }
}

/// Deploys wallets at addresses known beforehand (CREATE2), for ERC-6492 signatures. A second call for the same
/// wallet answers its address instead of failing: someone may have deployed it first.
contract TestWalletFactory {
    function deploy(address owner, bytes32 salt) external returns (address wallet) {
        wallet = addressOf(owner, salt);
        if (wallet.code.length == 0) new TestWallet{salt: salt}(owner);
    }

    function addressOf(address owner, bytes32 salt) public view returns (address) {
        bytes32 initCodeHash = keccak256(abi.encodePacked(type(TestWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, initCodeHash)))));
    }
}
