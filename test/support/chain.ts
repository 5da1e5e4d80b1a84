// The test chain as tests see it: accounts, addresses, balances, time, reorgs, and what a payer can do on chain
// besides paying. Pure viem and fetch, so it runs in Node and in workerd; starting a node is scripts/chain/anvil.ts.

import {
  createPublicClient,
  defineChain,
  encodeFunctionData,
  hashTypedData,
  http,
  maxUint256,
  parseAbi,
  parseSignature,
  toHex,
} from "viem";
import { sign } from "viem/accounts";
import {
  CHAIN_ID,
  type Hex,
  MULTICALL3,
  PERMIT2,
  type TestAccount,
  USDC,
  USDC_DOMAIN,
  USDC_OPERATOR,
} from "../../scripts/chain/addresses.ts";
import { type Receipt, rpc, transact } from "../../scripts/chain/rpc.ts";

export * from "../../scripts/chain/addresses.ts";
export { type Receipt, receiptOf, rpc, send, transact } from "../../scripts/chain/rpc.ts";
export * from "./direct-settle.ts";
export * from "./payments.ts";
export type { Payer, PaymentMethod, SignedFields } from "./signing.ts";
export * from "./sponsoring.ts";
export * from "./wallets.ts";

/** What the tests call on tokens: ERC-20, EIP-3009 and the roles of USDC. */
export const TOKEN_ABI = parseAbi([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function decimals() view returns (uint8)",
  "function balanceOf(address account) view returns (uint256)",
  "function allowance(address owner, address spender) view returns (uint256)",
  "function approve(address spender, uint256 value) returns (bool)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function mint(address to, uint256 value)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function blacklist(address account)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
]);

export const TEST_CHAIN = defineChain({
  id: CHAIN_ID,
  name: "Souk test chain",
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrls: { default: { http: [] } },
  contracts: { multicall3: { address: MULTICALL3 } },
});

/** A viem client for one test: in workerd it must not outlive the request or test that made it. */
export function publicClient(rpcUrl: string) {
  return createPublicClient({ chain: TEST_CHAIN, transport: http(rpcUrl), pollingInterval: 20 });
}

/** Atomic units. */
export async function tokenBalance(rpcUrl: string, asset: Hex, account: Hex): Promise<bigint> {
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "balanceOf", args: [account] });
  return BigInt(await rpc<Hex>(rpcUrl, "eth_call", [{ to: asset, data }, "latest"]));
}

/** Millionths of a USDC. */
export function usdcBalance(rpcUrl: string, account: Hex): Promise<bigint> {
  return tokenBalance(rpcUrl, USDC, account);
}

export function transferUsdc(rpcUrl: string, from: Hex, to: Hex, value: bigint): Promise<Receipt> {
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "transfer", args: [to, value] });
  return transact(rpcUrl, { from, to: USDC, data });
}

/** Lets Permit2 move an account's tokens; 0 takes that back. The account is one of the ten. */
export function approvePermit2(
  rpcUrl: string,
  owner: Hex,
  { asset = USDC, value = maxUint256 }: { asset?: Hex; value?: bigint } = {},
): Promise<Receipt> {
  return transact(rpcUrl, { from: owner, to: asset, data: approvePermit2Data(value) });
}

/** The call itself, for a wallet that makes it through its owner. */
export function approvePermit2Data(value: bigint = maxUint256): Hex {
  return encodeFunctionData({ abi: TOKEN_ABI, functionName: "approve", args: [PERMIT2, value] });
}

/** EIP-3009: the payer takes an authorization back before anybody used it. */
export async function cancelAuthorization(rpcUrl: string, payer: TestAccount, nonce: Hex): Promise<Receipt> {
  const hash = hashTypedData({
    domain: { ...USDC_DOMAIN, chainId: CHAIN_ID, verifyingContract: USDC },
    primaryType: "CancelAuthorization",
    types: {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    },
    message: { authorizer: payer.address, nonce },
  });
  const { r, s, v } = parseSignature(await sign({ hash, privateKey: payer.key, to: "hex" }));
  const args = [payer.address, nonce, Number(v), r, s] as const;
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "cancelAuthorization", args });
  return transact(rpcUrl, { from: payer.address, to: USDC, data });
}

/** USDC's issuer blocks an account: its transfers revert from then on. */
export async function blacklist(rpcUrl: string, account: Hex): Promise<Receipt> {
  await rpc(rpcUrl, "anvil_impersonateAccount", [USDC_OPERATOR]);
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "blacklist", args: [account] });
  return transact(rpcUrl, { from: USDC_OPERATOR, to: USDC, data });
}

export async function setEtherBalance(rpcUrl: string, account: Hex, wei: bigint): Promise<void> {
  await rpc(rpcUrl, "anvil_setBalance", [account, toHex(wei)]);
}

// Blocks and time. Times are Unix seconds.

export async function mine(rpcUrl: string, blocks = 1): Promise<void> {
  await rpc(rpcUrl, "anvil_mine", [toHex(blocks)]);
}

export async function blockNumber(rpcUrl: string): Promise<bigint> {
  return BigInt(await rpc<Hex>(rpcUrl, "eth_blockNumber"));
}

export async function latestBlockSeconds(rpcUrl: string): Promise<number> {
  const block = await rpc<{ timestamp: Hex }>(rpcUrl, "eth_getBlockByNumber", ["latest", false]);
  return Number(block.timestamp);
}

/** The next block gets this time, and later ones go on from there. */
export async function setNextBlockSeconds(rpcUrl: string, seconds: number): Promise<void> {
  await rpc(rpcUrl, "evm_setNextBlockTimestamp", [seconds]);
}

/** A block every so many seconds from now on; 0 mines each transaction at once again. */
export async function setBlockTime(rpcUrl: string, seconds: number): Promise<void> {
  await rpc(rpcUrl, "evm_setIntervalMining", [seconds]);
  await rpc(rpcUrl, "evm_setAutomine", [seconds === 0]);
}

/** Mines nothing until `mine` is called; `setBlockTime(rpcUrl, 0)` undoes it. */
export async function stopMining(rpcUrl: string): Promise<void> {
  await rpc(rpcUrl, "evm_setIntervalMining", [0]);
  await rpc(rpcUrl, "evm_setAutomine", [false]);
}

// Reorgs: a snapshot, then back to it. What was mined after it is gone and was never pending.

export function snapshot(rpcUrl: string): Promise<Hex> {
  return rpc<Hex>(rpcUrl, "evm_snapshot");
}

/** @throws Error when the snapshot is unknown: each serves once. */
export async function revertTo(rpcUrl: string, snapshotId: Hex): Promise<void> {
  const reverted = await rpc<boolean>(rpcUrl, "evm_revert", [snapshotId]);
  if (!reverted) throw new Error(`there is no snapshot ${snapshotId}`);
}

/** Forgets a transaction that waits to be mined, as a node that restarts or runs out of room does. */
export async function dropTransaction(rpcUrl: string, hash: Hex): Promise<void> {
  await rpc(rpcUrl, "anvil_dropTransaction", [hash]);
}
