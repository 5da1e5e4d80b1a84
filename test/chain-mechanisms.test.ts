// The published mechanisms (@x402/evm) verify and settle what `aPayment` builds on the test chain, and diagnose what
// is wrong with it by their own reasons. This is what makes the project's proxies and payments worth testing with.

import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { UptoEvmScheme } from "@x402/evm/upto/facilitator";
import { createWalletClient, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Anvil, startAnvil } from "../scripts/chain/anvil.ts";
import {
  ACCOUNTS,
  aPayment,
  approvalSponsoring,
  approvePermit2,
  approvePermit2Data,
  BUYER,
  deployContract,
  deployWallet,
  eip2612Sponsoring,
  executeFromWallet,
  type FactoryWallet,
  type Hex,
  type PaymentOptions,
  RELAYER,
  SELLER,
  STARTING_USDC,
  settleCall,
  TEST_CHAIN,
  type TestPayment,
  transact,
  transferUsdc,
  USDC,
  usdcBalance,
  WALLET_FACTORY,
  walletOf,
} from "./support/chain.ts";

/** Holds USDC, but Permit2 may not move it. */
const STRANGER = ACCOUNTS[3];

let anvil: Anvil;
let mechanisms: ReturnType<typeof mechanismsOn>;
/** Deployed, funded, and Permit2 may move its USDC. */
let wallet: FactoryWallet;

beforeAll(async () => {
  anvil = await startAnvil();
  const { rpcUrl } = anvil;
  mechanisms = mechanismsOn(rpcUrl);
  await approvePermit2(rpcUrl, BUYER.address);
  wallet = walletOf(BUYER, `0x${"01".repeat(32)}`);
  await deployWallet(rpcUrl, wallet);
  await transferUsdc(rpcUrl, BUYER.address, wallet.address, 1_000_000n);
  await executeFromWallet(rpcUrl, wallet, USDC, approvePermit2Data());
});
afterAll(() => anvil.stop());

function mechanismsOn(rpcUrl: string) {
  const client = createWalletClient({
    account: privateKeyToAccount(RELAYER.key),
    chain: TEST_CHAIN,
    transport: http(rpcUrl),
    pollingInterval: 20,
  }).extend(publicActions);
  const signer = toFacilitatorEvmSigner({ ...client, address: RELAYER.address } as never);
  const exact = new ExactEvmScheme(signer, { eip6492AllowedFactories: [WALLET_FACTORY] });
  const strict = new ExactEvmScheme(signer);
  return { exact, strict, upto: new UptoEvmScheme(signer) };
}

function mechanismOf(payment: TestPayment) {
  return payment.paymentRequirements.scheme === "upto" ? mechanisms.upto : mechanisms.exact;
}

function verify(payment: TestPayment, mechanism = mechanismOf(payment)) {
  return mechanism.verify(payment.paymentPayload, payment.paymentRequirements);
}

function settle(payment: TestPayment) {
  return mechanismOf(payment).settle(payment.paymentPayload, payment.paymentRequirements);
}

describe("the published mechanisms verify and settle", () => {
  it.each<[string, () => PaymentOptions]>([
    ["exact by EIP-3009", () => ({})],
    ["exact by Permit2", () => ({ method: "permit2" })],
    ["upto", () => ({ method: "upto" })],
    ["exact by EIP-3009 from a smart wallet (ERC-1271)", () => ({ payer: wallet })],
    ["the same with the owner's bare 65 bytes", () => ({ payer: wallet, bareOwnerSignature: true })],
    ["exact by Permit2 from a smart wallet", () => ({ payer: wallet, method: "permit2" })],
    ["upto from a smart wallet", () => ({ payer: wallet, method: "upto" })],
    ["a deployed wallet that still sends its deployment", () => ({ payer: wallet, withDeployment: true })],
  ])("%s", async (_, options) => {
    const payment = await aPayment(options());
    const payer = options().payer?.address ?? BUYER.address;
    const before = await usdcBalance(anvil.rpcUrl, SELLER.address);
    expect(await verify(payment)).toMatchObject({ isValid: true, payer });
    expect(await settle(payment)).toMatchObject({ success: true, payer });
    expect(await usdcBalance(anvil.rpcUrl, SELLER.address)).toBe(before + 10_000n);
  });

  it("a wallet that does not exist yet (ERC-6492): deployed by its factory, then it pays", async () => {
    const unborn = walletOf(BUYER, `0x${"02".repeat(32)}`);
    await transferUsdc(anvil.rpcUrl, BUYER.address, unborn.address, 10_000n);
    const payment = await aPayment({ payer: unborn, withDeployment: true });
    expect(await verify(payment)).toMatchObject({ isValid: true, payer: unborn.address });
    expect(await verify(payment, mechanisms.strict)).toMatchObject({
      invalidReason: "eip6492_factory_not_allowed",
    });
    expect(await settle(payment)).toMatchObject({ success: true });
    expect(await usdcBalance(anvil.rpcUrl, unborn.address)).toBe(0n);
  });

  it.each(["permit2", "upto"] as const)(
    "%s with an EIP-2612 permit instead of an allowance",
    async (method) => {
      const payer = method === "upto" ? ACCOUNTS[4] : ACCOUNTS[5];
      const before = await usdcBalance(anvil.rpcUrl, SELLER.address);
      const extensions = await eip2612Sponsoring(payer, { amount: 10_000n });
      const payment = await aPayment({ method, payer, extensions });
      expect(await verify(payment)).toMatchObject({ isValid: true });
      expect(await settle(payment)).toMatchObject({ success: true });
      expect(await usdcBalance(anvil.rpcUrl, SELLER.address)).toBe(before + 10_000n);
    },
  );

  it("upto: a charge below the ceiling, and one of zero without a transaction", async () => {
    const before = await usdcBalance(anvil.rpcUrl, SELLER.address);
    const charge = (amount: string) =>
      aPayment({ method: "upto", amount: 5_000n, requirements: { amount } }).then(settle);
    expect(await charge("1200")).toMatchObject({ success: true, amount: "1200" });
    expect(await charge("0")).toMatchObject({ success: true, amount: "0", transaction: "" });
    expect(await usdcBalance(anvil.rpcUrl, SELLER.address)).toBe(before + 1_200n);
  });
});

const TOO_MUCH = STARTING_USDC * 2n;
const PAST = 1_700_000_000n;
const FUTURE = 4_000_000_000n;

describe("the published mechanisms say what is wrong", () => {
  it.each<[string, string, PaymentOptions]>([
    ["changed after signing", "invalid_exact_evm_signature", { sent: { value: 9_999n } }],
    ["signed for another chain", "invalid_exact_evm_signature", { domain: { chainId: 8453 } }],
    ["signed to somebody else", "invalid_exact_evm_recipient_mismatch", { signed: { to: BUYER.address } }],
    ["too little", "invalid_exact_evm_payload_authorization_value_mismatch", { signed: { value: 1n } }],
    ["over", "invalid_exact_evm_payload_authorization_valid_before", { signed: { validBefore: PAST } }],
    ["too early", "invalid_exact_evm_payload_authorization_valid_after", { signed: { validAfter: FUTURE } }],
    ["more than the payer has", "invalid_exact_evm_insufficient_balance", { amount: TOO_MUCH }],
    ["a wrong token name", "invalid_exact_evm_token_name_mismatch", { extra: { name: "USD", version: "2" } }],
    ["no token name", "invalid_exact_evm_missing_eip712_domain", { requirements: { extra: {} } }],
    ["an asset without code", "asset_not_deployed_contract", { asset: STRANGER.address }],
  ])("EIP-3009, %s: %s", async (_, invalidReason, options) => {
    expect(await verify(await aPayment(options))).toMatchObject({ isValid: false, invalidReason });
  });

  it.each<[string, string, PaymentOptions]>([
    ["no allowance", "permit2_allowance_required", { payer: STRANGER }],
    ["no allowance for upto", "permit2_allowance_required", { method: "upto", payer: STRANGER }],
    ["more than the payer has", "permit2_insufficient_balance", { amount: TOO_MUCH }],
    ["changed after signing", "invalid_permit2_signature", { sent: { nonce: 1n } }],
    ["another spender", "invalid_permit2_spender", { signed: { spender: SELLER.address } }],
    ["another receiver", "invalid_permit2_recipient_mismatch", { signed: { to: BUYER.address } }],
    ["another amount", "permit2_amount_mismatch", { signed: { value: 10_001n } }],
    ["another token", "permit2_token_mismatch", { signed: { token: SELLER.address } }],
    ["over", "permit2_deadline_expired", { signed: { validBefore: PAST } }],
    ["too early", "permit2_not_yet_valid", { signed: { validAfter: FUTURE } }],
    [
      "another facilitator",
      "upto_facilitator_mismatch",
      { method: "upto", signed: { facilitator: SELLER.address } },
    ],
  ])("Permit2, %s: %s", async (_, invalidReason, options) => {
    const payment = await aPayment({ method: "permit2", ...options });
    expect(await verify(payment)).toMatchObject({ isValid: false, invalidReason });
  });

  it("a used authorization, however it was used", async () => {
    const used = async (options: PaymentOptions) => {
      const payment = await aPayment(options);
      await transact(anvil.rpcUrl, { from: RELAYER.address, ...settleCall(payment) });
      return payment;
    };
    expect(await verify(await used({}))).toMatchObject({
      invalidReason: "invalid_exact_evm_nonce_already_used",
    });
    expect(await verify(await used({ method: "permit2" }))).toMatchObject({
      invalidReason: "permit2_simulation_failed",
    });
    expect(await settle(await used({ method: "permit2" }))).toMatchObject({ success: false });
  });

  it("an upto charge above the ceiling", async () => {
    const payment = await aPayment({ method: "upto", requirements: { amount: "10001" } });
    expect(await settle(payment)).toMatchObject({
      success: false,
      errorReason: "invalid_upto_evm_payload_settlement_exceeds_amount",
    });
  });

  it("an EIP-2612 permit for another amount, and an approve that nobody sends", async () => {
    const extensions = await eip2612Sponsoring(STRANGER, { amount: 9_999n });
    const permitted = await aPayment({ method: "permit2", payer: STRANGER, extensions });
    expect(await settle(permitted)).toMatchObject({ errorReason: "permit2_2612_amount_mismatch" });
    const approval = await approvalSponsoring(STRANGER, { data: approvePermit2Data() });
    const approved = await aPayment({ method: "permit2", payer: STRANGER, extensions: approval });
    expect(await verify(approved)).toMatchObject({ invalidReason: "permit2_allowance_required" });
  });

  it("a token without EIP-3009", async () => {
    const asset: Hex = await deployContract(anvil.rpcUrl, "PlainToken", ["Plain"]);
    const payment = await aPayment({ asset, extra: { name: "Plain", version: "1" } });
    expect(await verify(payment)).toMatchObject({
      invalidReason: "invalid_exact_evm_eip3009_not_supported",
    });
  });
});
