// The chain that both sides of the differential test read, and the cast on it: payers of every kind, tokens of every
// kind, authorizations that are spent. The clock stands still, one second before the last block, so that both sides
// decide every window alike. Runs in Node and in workerd.

import { encodeFunctionData, keccak256, toHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import {
  ACCOUNTS,
  aPayment,
  approvePermit2,
  approvePermit2Data,
  BUYER,
  blacklist,
  cancelAuthorization,
  deployContract,
  deployWallet,
  executeFromWallet,
  type Hex,
  latestBlockSeconds,
  mine,
  type Payer,
  RELAYER,
  rpc,
  setNextBlockSeconds,
  settleCall,
  type TestAccount,
  type TestPayment,
  TOKEN_ABI,
  transact,
  transferUsdc,
  USDC,
  walletOf,
} from "../chain.ts";

export interface Ground {
  rpcUrl: string;
  nowSeconds: number;
  /** Plain accounts with USDC that Permit2 may move. */
  rich: readonly TestAccount[];
  payers: Readonly<Record<PayerKind, Payer>>;
  /** Has EIP-3009's functions and checks no signature. Not the first of the rich holds some. */
  carelessToken: Hex;
  /** Neither EIP-3009 nor a signature anywhere. */
  plainToken: Hex;
  /** Settled or cancelled, by every way to pay. */
  spent: readonly TestPayment[];
}

export type PayerKind =
  | "poor account"
  | "account without approval for Permit2"
  | "account on USDC's blacklist"
  | "wallet"
  | "wallet that is not deployed"
  | "poor wallet that is not deployed"
  | "account delegated to a wallet of its own"
  | "account delegated to another's wallet"
  | "account delegated to a contract without ERC-1271"
  | "account delegated to nothing";

/** What the careless token calls itself. */
export const CARELESS_DOMAIN = { name: "Costly", version: "1" } as const;

/** Enough for hundreds of payments of a cent. */
const POCKET_MONEY = 5_000_000n;
const LONG_SECONDS = 1_000_000;
/** From the head to the frozen clock: more than what setting the stage takes. */
const SETUP_SECONDS = 120;

export async function prepareGround(rpcUrl: string): Promise<Ground> {
  const rich = [BUYER, ...ACCOUNTS.slice(4, 8)];
  for (const account of rich) await approvePermit2(rpcUrl, account.address);

  const wallet = walletOf(BUYER, word("a wallet"));
  await deployWallet(rpcUrl, wallet);
  await transferUsdc(rpcUrl, BUYER.address, wallet.address, POCKET_MONEY);
  await executeFromWallet(rpcUrl, wallet, USDC, approvePermit2Data());
  const undeployed = walletOf(BUYER, word("a wallet to be"));
  await transferUsdc(rpcUrl, BUYER.address, undeployed.address, POCKET_MONEY);

  const plainToken = await deployContract(rpcUrl, "PlainToken", ["Plain"]);
  const delegated = async (name: string, code: (account: TestAccount) => Promise<Hex> | Hex) => {
    const account = accountOf(name);
    await transferUsdc(rpcUrl, BUYER.address, account.address, POCKET_MONEY);
    await rpc(rpcUrl, "anvil_setCode", [account.address, `0xef0100${(await code(account)).slice(2)}`]);
    return account;
  };
  const payers: Ground["payers"] = {
    "poor account": accountOf("poor"),
    "account without approval for Permit2": await funded(rpcUrl, accountOf("unapproved")),
    "account on USDC's blacklist": await funded(rpcUrl, accountOf("blacklisted")),
    wallet,
    "wallet that is not deployed": undeployed,
    "poor wallet that is not deployed": walletOf(BUYER, word("a poor wallet to be")),
    "account delegated to a wallet of its own": await delegated("own wallet", ({ address }) =>
      deployContract(rpcUrl, "TestWallet", [address]),
    ),
    "account delegated to another's wallet": await delegated("foreign wallet", () => wallet.address),
    "account delegated to a contract without ERC-1271": await delegated("no wallet", () => plainToken),
    "account delegated to nothing": await delegated("nothing", () => accountOf("nobody").address),
  };
  await blacklist(rpcUrl, payers["account on USDC's blacklist"].address);

  const spent = await spendSome(rpcUrl, rich);
  const carelessToken = await deployContract(rpcUrl, "CostlyToken", [CARELESS_DOMAIN.name, 0n]);
  for (const account of rich.slice(1)) await mint(rpcUrl, carelessToken, account.address);
  const nowSeconds = (await latestBlockSeconds(rpcUrl)) + SETUP_SECONDS;
  await setNextBlockSeconds(rpcUrl, nowSeconds + 1);
  await mine(rpcUrl);
  return { rpcUrl, nowSeconds, rich, payers, carelessToken, plainToken, spent };
}

/** By EIP-3009 settled or cancelled, by Permit2 settled. */
async function spendSome(rpcUrl: string, payers: readonly TestAccount[]): Promise<TestPayment[]> {
  const spent: TestPayment[] = [];
  for (const method of ["permit2", "upto"] as const) {
    const payment = await aPayment({ method, maxTimeoutSeconds: LONG_SECONDS });
    await transact(rpcUrl, { from: RELAYER.address, ...settleCall(payment) });
    spent.push(payment);
  }
  for (const [index, payer] of payers.entries()) {
    const payment = await aPayment({ payer, maxTimeoutSeconds: LONG_SECONDS });
    const { authorization } = payment.paymentPayload.payload as { authorization: { nonce: Hex } };
    if (index % 2 === 0) await transact(rpcUrl, { from: RELAYER.address, ...settleCall(payment) });
    else await cancelAuthorization(rpcUrl, payer, authorization.nonce);
    spent.push(payment);
  }
  return spent;
}

function mint(rpcUrl: string, token: Hex, account: Hex) {
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "mint", args: [account, POCKET_MONEY] });
  return transact(rpcUrl, { from: RELAYER.address, to: token, data });
}

async function funded(rpcUrl: string, account: TestAccount): Promise<TestAccount> {
  await transferUsdc(rpcUrl, BUYER.address, account.address, POCKET_MONEY);
  return account;
}

/** A new account with a key of its own; the same name always gives the same one. */
export function accountOf(name: string): TestAccount {
  const key = word(`souk differential ${name}`);
  return { address: privateKeyToAddress(key), key };
}

function word(name: string): Hex {
  return keccak256(toHex(name));
}
