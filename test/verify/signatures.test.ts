// Whose signature verify takes, in which spelling, and what it makes of a wallet that is not deployed.

import { serializeErc6492Signature, toHex } from "viem";
import { describe, expect, it } from "vitest";
import {
  aPayment,
  BUYER,
  deployWallet,
  type Hex,
  SELLER,
  settleCall,
  type TestPayment,
  transferUsdc,
  USDC,
  WALLET_FACTORY,
  walletOf,
} from "../support/chain.ts";
import { verdictOn } from "../support/verify.ts";
import {
  ATTACKER,
  anvil,
  node,
  refused,
  trustsFactory,
  useVerifyLab,
  VALID,
  verify,
  wallet,
} from "../support/verify-lab.ts";

useVerifyLab();

describe("C03: signature encodings", () => {
  async function withRecoveryId(change: (v: number) => number): Promise<TestPayment> {
    const payment = await aPayment();
    const payload = payment.paymentPayload.payload as { signature: Hex };
    const v = Number.parseInt(payload.signature.slice(-2), 16);
    payload.signature = `${payload.signature.slice(0, -2) as Hex}${toHex(change(v), { size: 1 }).slice(2)}`;
    return payment;
  }
  it("C03: takes v as 0 or 1 and as 27 or 28", async () => {
    expect(await verdictOn(node.url, await withRecoveryId((v) => v - 27))).toEqual(VALID);
    expect(await verdictOn(node.url, await withRecoveryId((v) => v))).toEqual(VALID);
  });
  it("C03: simulates with v as it will be broadcast", async () => {
    await verdictOn(node.url, await withRecoveryId((v) => v - 27));
    const transfer = node.requests.flat().find(({ method }) => method === "eth_call");
    const { data } = (transfer?.params[0] ?? { data: "0x" }) as { data: Hex };
    const v = BigInt(`0x${data.slice(10 + 6 * 64, 10 + 7 * 64)}`);
    expect([27n, 28n]).toContain(v);
  });
  const invalid = refused("invalid_exact_evm_signature");
  it.each<[string, () => Promise<TestPayment>]>([
    ["another v", () => withRecoveryId((v) => v + 4)],
    ["the other v", () => withRecoveryId((v) => 55 - v)],
    ["62 zero bytes", () => aPayment({ signature: `0x${"00".repeat(62)}` })],
    ["bad hex", () => aPayment({ signature: "0x12zz" })],
    ["an odd number of digits", () => aPayment({ signature: "0x123" })],
    ["no byte at all", () => aPayment({ signature: "0x" })],
    ["no prefix", () => aPayment({ signature: "12" as Hex })],
    ["a wrapper that cannot be read", () => aPayment({ signature: `0x1234${"6492".repeat(16)}` })],
    ["300 bytes from a payer without code", () => aPayment({ signature: `0x${"11".repeat(300)}` })],
    [
      "300 bytes that the wallet refuses",
      () => aPayment({ payer: wallet, signature: `0x${"11".repeat(300)}` }),
    ],
    ["40,000 bytes", () => aPayment({ payer: wallet, signature: `0x${"11".repeat(40_000)}` })],
  ])("C03: answers %s as an invalid signature", async (_, make) => {
    expect(await verdictOn(node.url, await make())).toEqual(invalid);
  });
  it("C03: the same for Permit2, by its own reason", async () => {
    for (const signature of ["0x12zz", `0x${"00".repeat(62)}`, `0x${"11".repeat(65)}`] as Hex[]) {
      expect(await verify({ method: "permit2", signature })).toEqual(refused("invalid_permit2_signature"));
    }
  });
  it("C03: refuses another account's signature", async () => {
    expect(await verify({ sent: { from: SELLER.address } })).toEqual(invalid);
  });
});

describe("C04: the token's EIP-712 domain", () => {
  it("C04: names a wrong name and a wrong version, and never patches them", async () => {
    expect(await verify({ extra: { name: "USD Coin", version: "2" } })).toEqual(
      refused("invalid_exact_evm_token_name_mismatch"),
    );
    expect(await verify({ extra: { name: "USDC", version: "1" } })).toEqual(
      refused("invalid_exact_evm_token_version_mismatch"),
    );
  });
  it.each<[string, Record<string, unknown>]>([
    ["neither", {}],
    ["no version", { name: "USDC" }],
    ["no name", { version: "2" }],
    ["a version that is a number", { name: "USDC", version: 2 }],
    ["an empty name", { name: "", version: "2" }],
  ])("C04: says that the domain is missing with %s", async (_, extra) => {
    expect(await verify({ requirements: { extra } })).toEqual(
      refused("invalid_exact_evm_missing_eip712_domain"),
    );
  });
  it("C04: the same when `extra` is missing entirely or null", async () => {
    const missing = refused("invalid_exact_evm_missing_eip712_domain");
    for (const extra of [undefined, null]) {
      const payment = await aPayment();
      const requirements = { ...payment.paymentRequirements, extra };
      expect(await verdictOn(node.url, { ...payment, paymentRequirements: requirements })).toEqual(missing);
    }
  });
  it("C04: Permit2 needs no domain of the token", async () => {
    expect(await verify({ method: "permit2", extra: {} })).toEqual(VALID);
  });
});

describe("C06: ERC-6492 wrappers", () => {
  const notAllowed = refused("eip6492_factory_not_allowed");
  const fresh = walletOf(SELLER, `0x${"66".repeat(32)}`);
  it("C06: refuses a call that is no factory's, whatever it says", async () => {
    const approve = `0x095ea7b3${ATTACKER.slice(2).padStart(64, "0")}${"f".repeat(64)}`;
    const signature = serializeErc6492Signature({
      address: USDC,
      data: approve as Hex,
      signature: `0x${"5a".repeat(65)}`,
    });
    expect(await verify({ payer: fresh, signature })).toEqual(notAllowed);
    expect(await verify({ payer: fresh, signature }, trustsFactory)).toEqual(notAllowed);
    // Nothing of the payer's choosing was even simulated.
    expect(JSON.stringify(node.requests)).not.toContain("095ea7b3");
  });
  it("C06: refuses a good wrapper while no factory is trusted", async () => {
    await transferUsdc(anvil.rpcUrl, BUYER.address, fresh.address, 50_000n);
    expect(await verify({ payer: fresh, withDeployment: true })).toEqual(notAllowed);
    expect(await verify({ payer: fresh, withDeployment: true }, trustsFactory)).toEqual(VALID);
  });
  it("C06: the call in a deployed wallet's wrapper takes no part, so it cannot lend the money for a simulation", async () => {
    const poor = walletOf(BUYER, `0x${"99".repeat(32)}`);
    await deployWallet(anvil.rpcUrl, poor);
    const loan = settleCall(await aPayment({ payTo: poor.address, amount: 10_000n }));
    const borrowing = { ...poor, factory: loan.to, factoryCalldata: loan.data };
    const trustsEveryone = { change: { allowedFactories: [WALLET_FACTORY, USDC] } };
    expect(await verify({ payer: borrowing, withDeployment: true }, trustsEveryone)).toEqual(
      refused("invalid_exact_evm_insufficient_balance"),
    );
  });
  it("C06: judges the inner signature of a wallet that is not deployed", async () => {
    const signature = serializeErc6492Signature({
      address: fresh.factory,
      data: fresh.factoryCalldata,
      signature: `0x${"5a".repeat(65)}`,
    });
    expect(await verify({ payer: fresh, signature }, trustsFactory)).toEqual(
      refused("invalid_exact_evm_transaction_simulation_failed"),
    );
  });
  it("C06: judges the inner signature of a wallet that is deployed, and needs no factory for it", async () => {
    expect(await verify({ payer: wallet, withDeployment: true })).toEqual(VALID);
    const signature = serializeErc6492Signature({
      address: wallet.factory,
      data: wallet.factoryCalldata,
      signature: `0x${"5a".repeat(66)}`,
    });
    expect(await verify({ payer: wallet, signature })).toEqual(refused("invalid_exact_evm_signature"));
  });
});
