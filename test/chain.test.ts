// The test chain is what it says it is: the token, Permit2, the x402 proxies, the wallets. That the published
// mechanisms accept all this is shown in chain-mechanisms.test.ts; the node around it in chain-node.test.ts.

import { DEFAULT_ASSETS, x402ExactPermit2ProxyABI, x402UptoPermit2ProxyABI } from "@x402/evm";
import {
  type Abi,
  type AbiEvent,
  encodeFunctionData,
  parseEventLogs,
  toEventSelector,
  toFunctionSelector,
} from "viem";
import { mnemonicToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Anvil, startAnvil } from "../scripts/chain/anvil.ts";
import {
  ACCOUNTS,
  abiOf,
  aPayment,
  approvePermit2,
  BUYER,
  blacklist,
  cancelAuthorization,
  deployContract,
  deployWallet,
  type Hex,
  MNEMONIC,
  NETWORK,
  type PaymentOptions,
  publicClient,
  RELAYER,
  rpc,
  SELLER,
  STARTING_USDC,
  settleCall,
  settleContractCall,
  type TestPayment,
  TOKEN_ABI,
  tokenBalance,
  transact,
  transferUsdc,
  USDC,
  USDC_DOMAIN,
  usdcBalance,
  walletOf,
} from "./support/chain.ts";

const ZERO_ADDRESS: Hex = "0x0000000000000000000000000000000000000000";

let anvil: Anvil;
let rpcUrl: string;
beforeAll(async () => {
  anvil = await startAnvil();
  rpcUrl = anvil.rpcUrl;
});
afterAll(() => anvil.stop());

/** What the seller's balance grew by while `work` ran. */
async function earned(work: () => Promise<unknown>, asset: Hex = USDC): Promise<bigint> {
  const before = await tokenBalance(rpcUrl, asset, SELLER.address);
  await work();
  return (await tokenBalance(rpcUrl, asset, SELLER.address)) - before;
}

function simulate(payment: TestPayment, from: Hex = RELAYER.address): Promise<unknown> {
  return publicClient(rpcUrl).simulateContract({ ...settleContractCall(payment), account: from });
}

describe("USDC", () => {
  it("is held by the ten accounts, one million each", async () => {
    expect(ACCOUNTS).toHaveLength(10);
    for (const [addressIndex, { address, key }] of ACCOUNTS.entries()) {
      expect(privateKeyToAddress(key)).toBe(address);
      expect(mnemonicToAccount(MNEMONIC, { addressIndex }).address).toBe(address);
      expect(await usdcBalance(rpcUrl, address)).toBe(STARTING_USDC);
    }
  });

  it("is the default asset of the published packages, read through Multicall3 in one call", async () => {
    const token = { address: USDC, abi: TOKEN_ABI } as const;
    const [name, version, decimals] = await publicClient(rpcUrl).multicall({
      allowFailure: false,
      contracts: [
        { ...token, functionName: "name" },
        { ...token, functionName: "version" },
        { ...token, functionName: "decimals" },
      ],
    });
    expect({ name, version, decimals }).toEqual({ ...USDC_DOMAIN, decimals: 6 });
    expect(DEFAULT_ASSETS[NETWORK]?.[0]).toMatchObject({ asset: USDC, name, version, decimals });
  });

  it("moves by transferWithAuthorization and says so in its logs", async () => {
    const payment = await aPayment({ amount: 1_234n });
    const receipt = await transact(rpcUrl, { from: RELAYER.address, ...settleCall(payment) });
    const logs = receipt.logs as unknown as Parameters<typeof parseEventLogs>[0]["logs"];
    expect(parseEventLogs({ abi: TOKEN_ABI, logs })).toMatchObject([
      { eventName: "AuthorizationUsed", args: { authorizer: BUYER.address } },
      { eventName: "Transfer", args: { from: BUYER.address, to: SELLER.address, value: 1_234n } },
    ]);
    await expect(simulate(payment)).rejects.toThrow("authorization is used or canceled");
  });

  it("refuses a payer that its issuer blocked", async () => {
    const blocked = ACCOUNTS[8];
    await blacklist(rpcUrl, blocked.address);
    await expect(simulate(await aPayment({ payer: blocked }))).rejects.toThrow("account is blacklisted");
  });

  it("refuses an authorization that its payer cancelled", async () => {
    const payment = await aPayment();
    const { authorization } = payment.paymentPayload.payload as { authorization: { nonce: Hex } };
    await cancelAuthorization(rpcUrl, BUYER, authorization.nonce);
    await expect(simulate(payment)).rejects.toThrow("authorization is used or canceled");
  });
});

describe("the x402 proxies", () => {
  beforeAll(() => approvePermit2(rpcUrl, BUYER.address));

  it("exact: anyone may settle, and the receiver is the signed one", async () => {
    const payment = await aPayment({ method: "permit2", amount: 777n });
    const stranger = ACCOUNTS[2].address;
    expect(await earned(() => transact(rpcUrl, { from: stranger, ...settleCall(payment) }))).toBe(777n);
    const redirected = await aPayment({ method: "permit2", sent: { to: RELAYER.address } });
    await expect(simulate(redirected)).rejects.toThrow(selectorOf("InvalidSigner"));
  });

  it("upto: only the facilitator of the witness settles, any amount up to the ceiling", async () => {
    const charged = (amount: string) =>
      aPayment({ method: "upto", amount: 1_000n, requirements: { amount }, signed: { nonce: 7n } });
    await expect(simulate(await charged("400"), BUYER.address)).rejects.toThrow("UnauthorizedFacilitator()");
    await expect(simulate(await charged("1001"))).rejects.toThrow("AmountExceedsPermitted()");
    const call = settleCall(await charged("400"));
    expect(await earned(() => transact(rpcUrl, { from: RELAYER.address, ...call }))).toBe(400n);
    await expect(simulate(await charged("600"))).rejects.toThrow(selectorOf("InvalidNonce"));
  });

  it.each<[string, PaymentOptions]>([
    ["InvalidAmount", { amount: 0n }],
    ["InvalidDestination", { signed: { to: ZERO_ADDRESS } }],
    ["InvalidOwner", { signed: { from: ZERO_ADDRESS } }],
    ["PaymentTooEarly", { signed: { validAfter: 4_000_000_000n, validBefore: 4_000_000_300n } }],
  ])("exact: refuses with %s", async (error, options) => {
    await expect(simulate(await aPayment({ method: "permit2", ...options }))).rejects.toThrow(`${error}()`);
  });

  it.each([
    ["ExactPermit2Proxy", x402ExactPermit2ProxyABI as Abi],
    ["UptoPermit2Proxy", x402UptoPermit2ProxyABI as Abi],
  ] as const)("%s has every function, event and error of the published ABI", (name, published) => {
    const own = selectorsOf(abiOf(name));
    for (const selector of selectorsOf(published)) expect(own).toContain(selector);
  });
});

describe("contracts that tests deploy", () => {
  const transfer = encodeFunctionData({
    abi: TOKEN_ABI,
    functionName: "transfer",
    args: [SELLER.address, 10n],
  });

  async function tokenHeldByBuyer(name: "CostlyToken" | "SilentToken", args: unknown[]): Promise<Hex> {
    const token = await deployContract(rpcUrl, name, [name, ...args]);
    const mint = encodeFunctionData({ abi: TOKEN_ABI, functionName: "mint", args: [BUYER.address, 10n] });
    await transact(rpcUrl, { from: BUYER.address, to: token, data: mint });
    return token;
  }

  it("a costly token burns the gas it was told to, for every way to move it", async () => {
    const asset = await tokenHeldByBuyer("CostlyToken", [5_000_000n]);
    const payment = await aPayment({ asset, amount: 10n, extra: { name: "CostlyToken", version: "1" } });
    const receipt = await transact(rpcUrl, { from: RELAYER.address, ...settleCall(payment) });
    expect(Number(receipt.gasUsed)).toBeGreaterThan(5_000_000);
    expect(await tokenBalance(rpcUrl, asset, SELLER.address)).toBe(10n);
  });

  it("a silent token's transfer succeeds, logs nothing and pays nobody", async () => {
    const asset = await tokenHeldByBuyer("SilentToken", []);
    const work = async () => {
      const receipt = await transact(rpcUrl, { from: BUYER.address, to: asset, data: transfer });
      expect(receipt.logs).toEqual([]);
    };
    expect(await earned(work, asset)).toBe(0n);
  });

  it("a wallet that is costly to ask still pays", async () => {
    const address = await deployContract(rpcUrl, "CostlyWallet", [BUYER.address, 2_000_000n]);
    await transferUsdc(rpcUrl, BUYER.address, address, 500n);
    const payment = await aPayment({ payer: { address, owner: BUYER }, amount: 500n });
    const receipt = await transact(rpcUrl, { from: RELAYER.address, ...settleCall(payment) });
    expect(Number(receipt.gasUsed)).toBeGreaterThan(2_000_000);
  });

  it("a factory wallet stands where walletOf says, and deploying it twice is no error", async () => {
    const wallet = walletOf(BUYER, `0x${"11".repeat(32)}`);
    const code = () => rpc<Hex>(rpcUrl, "eth_getCode", [wallet.address, "latest"]);
    expect(await code()).toBe("0x");
    await deployWallet(rpcUrl, wallet);
    expect(await code()).not.toBe("0x");
    await deployWallet(rpcUrl, wallet);
  });
});

/** Permit2's own errors are not in the proxies' ABI, so a client shows their selector. */
function selectorOf(error: "InvalidSigner" | "InvalidNonce"): string {
  return toFunctionSelector(`${error}()`);
}

function selectorsOf(abi: Abi): string[] {
  return abi.flatMap((item) => {
    if (item.type === "function") return [toFunctionSelector(item)];
    if (item.type === "event") return [toEventSelector(item as AbiEvent)];
    return item.type === "error" ? [toFunctionSelector(`${item.name}()`)] : [];
  });
}
