// SPDX-License-Identifier: MIT
// Part of Souk's test chain, written by the project for it. Not audited: never deploy it to a real network.
pragma solidity 0.8.37;

/// An ERC-20 with six decimals and nothing else: no EIP-3009, no EIP-2612. Anyone may mint.
contract PlainToken {
    string public name;
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error InsufficientAllowance();
    error InsufficientBalance();

    constructor(string memory name_) {
        name = name_;
    }

    function symbol() external view returns (string memory) {
        return name;
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (allowance[from][msg.sender] < value) revert InsufficientAllowance();
        allowance[from][msg.sender] -= value;
        move(from, to, value);
        return true;
    }

    function move(address from, address to, uint256 value) internal virtual {
        if (balanceOf[from] < value) revert InsufficientBalance();
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// A token that takes EIP-3009 calls, checks no signature, and burns about `gasToBurn` gas in each transfer.
contract CostlyToken is PlainToken {
    string public constant version = "1";
    uint256 public immutable gasToBurn;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    error AuthorizationUsedOrCanceled();

    constructor(string memory name_, uint256 gasToBurn_) PlainToken(name_) {
        gasToBurn = gasToBurn_;
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32 nonce,
        uint8,
        bytes32,
        bytes32
    ) external {
        useAuthorization(from, to, value, nonce);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32 nonce,
        bytes calldata
    ) external {
        useAuthorization(from, to, value, nonce);
    }

    function useAuthorization(address from, address to, uint256 value, bytes32 nonce) private {
        if (authorizationState[from][nonce]) revert AuthorizationUsedOrCanceled();
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        move(from, to, value);
    }

    function move(address from, address to, uint256 value) internal override {
        uint256 gasAtStart = gasleft();
        while (gasAtStart - gasleft() < gasToBurn) {}
        super.move(from, to, value);
    }
}

/// A token that answers `true`, moves nothing and logs nothing: a transaction with status 1 that paid nobody.
contract SilentToken is PlainToken {
    constructor(string memory name_) PlainToken(name_) {}

    function move(address, address, uint256) internal override {}
}
