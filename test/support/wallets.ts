// Smart wallets and other contracts of the test chain: where a wallet will stand, and deploying what a test needs.
// Pure viem and fetch; the contracts' sources are contracts/*.sol.

import { type Abi, encodeDeployData, encodeFunctionData, getContractAddress } from "viem";
import artifacts from "../../contracts/artifacts.json" with { type: "json" };
import { ACCOUNTS, type Hex, type TestAccount, WALLET_FACTORY } from "../../scripts/chain/addresses.ts";
import { type Receipt, transact } from "../../scripts/chain/rpc.ts";

export type ContractName = keyof typeof artifacts;

/** A smart wallet whose signatures one owner key makes (ERC-1271). */
export interface SmartWallet {
  address: Hex;
  owner: TestAccount;
}

/** A wallet with a known address that its factory deploys when it is first needed (ERC-6492). */
export interface FactoryWallet extends SmartWallet {
  factory: Hex;
  factoryCalldata: Hex;
}

/** The wallet that the factory makes for this owner and salt; the same two always give the same wallet. */
export function walletOf(owner: TestAccount, salt: Hex): FactoryWallet {
  const factoryCalldata = encodeFunctionData({
    abi: abiOf("TestWalletFactory"),
    functionName: "deploy",
    args: [owner.address, salt],
  });
  const bytecode = deployData("TestWallet", [owner.address]);
  const address = getContractAddress({ opcode: "CREATE2", from: WALLET_FACTORY, salt, bytecode });
  return { address, owner, factory: WALLET_FACTORY, factoryCalldata };
}

/** Deploys it through the factory; account 0 pays the gas. */
export function deployWallet(rpcUrl: string, wallet: FactoryWallet): Promise<Receipt> {
  return transact(rpcUrl, { from: ACCOUNTS[0].address, to: wallet.factory, data: wallet.factoryCalldata });
}

/** A call made by a deployed wallet, ordered by its owner. */
export function executeFromWallet(rpcUrl: string, wallet: SmartWallet, to: Hex, data: Hex): Promise<Receipt> {
  const execute = encodeFunctionData({ abi: abiOf("TestWallet"), functionName: "execute", args: [to, data] });
  return transact(rpcUrl, { from: wallet.owner.address, to: wallet.address, data: execute });
}

/**
 * Deploys one of the project's test contracts and answers its address; account 0 pays the gas.
 *
 * @example
 * const token = await deployContract(rpcUrl, "CostlyToken", ["Costly", 25_000_000n]);   // gas per transfer
 * const address = await deployContract(rpcUrl, "CostlyWallet", [BUYER.address, 5_000_000n]);
 */
export async function deployContract(
  rpcUrl: string,
  name: ContractName,
  args: readonly unknown[] = [],
): Promise<Hex> {
  const receipt = await transact(rpcUrl, { from: ACCOUNTS[0].address, data: deployData(name, args) });
  if (receipt.contractAddress === null) throw new Error(`${name} has no address`);
  return receipt.contractAddress;
}

/** The ABI of one of the project's test contracts. */
export function abiOf(name: ContractName): Abi {
  return artifacts[name].abi as Abi;
}

function deployData(name: ContractName, args: readonly unknown[]): Hex {
  return encodeDeployData({ abi: abiOf(name), bytecode: artifacts[name].bytecode as Hex, args });
}
