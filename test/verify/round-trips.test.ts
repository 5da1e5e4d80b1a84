// Every way to pay is verified on a real chain, and asks the node once.

import { describe, expect, it } from "vitest";
import { BUYER, type PaymentOptions, RELAYER, transferUsdc, USDC, walletOf } from "../support/chain.ts";
import type { VerifySetting } from "../support/verify.ts";
import {
  ATTACKER,
  anvil,
  node,
  refused,
  STRANGER,
  trustsFactory,
  useVerifyLab,
  VALID,
  verify,
  wallet,
} from "../support/verify-lab.ts";

useVerifyLab();

describe("every way to pay is verified in one round trip", () => {
  const untouched = () => walletOf(STRANGER ?? BUYER, `0x${"07".repeat(32)}`);
  const ways: [string, () => PaymentOptions, VerifySetting?][] = [
    ["EIP-3009 from a plain account", () => ({})],
    ["Permit2 from a plain account", () => ({ method: "permit2" })],
    ["upto from a plain account", () => ({ method: "upto", amount: 50_000n })],
    ["EIP-3009 from a wallet contract (ERC-1271)", () => ({ payer: wallet })],
    ["Permit2 from a wallet contract", () => ({ method: "permit2", payer: wallet })],
    ["upto from a wallet contract", () => ({ method: "upto", payer: wallet })],
    [
      "EIP-3009 from a wallet that is deployed by now, still wrapped (ERC-6492)",
      () => ({ payer: wallet, withDeployment: true }),
    ],
    [
      "Permit2 from a wallet that is deployed by now, still wrapped",
      () => ({ method: "permit2", payer: wallet, withDeployment: true }),
    ],
  ];
  it.each(ways)("%s", async (_, options, setting) => {
    expect(await verify(options(), setting)).toEqual(VALID);
    expect(node.requests).toHaveLength(1);
  });

  it("a wallet contract with a signature of 65 bytes, from its second payment on", async () => {
    const bare = { payer: wallet, bareOwnerSignature: true };
    expect(await verify(bare)).toEqual(VALID);
    node.requests.length = 0;
    expect(await verify(bare)).toEqual(VALID);
    expect(node.requests).toHaveLength(1);
  });

  it("EIP-3009 from a wallet that is not deployed yet, behind a trusted factory", async () => {
    const payer = untouched();
    await transferUsdc(anvil.rpcUrl, BUYER.address, payer.address, 20_000n);
    node.requests.length = 0;
    expect(await verify({ payer, withDeployment: true }, trustsFactory)).toEqual(VALID);
    expect(node.requests).toHaveLength(1);
  });

  it("runs every simulated call as the account that will send it", async () => {
    await verify({ method: "upto" });
    const calls = node.requests.flat().filter(({ method }) => method === "eth_call");
    expect(calls.length).toBeGreaterThan(0);
    for (const { params } of calls) expect(params[0]).toMatchObject({ from: RELAYER.address });
  });

  it.each<[string, PaymentOptions]>([
    ["an asset outside the allowlist", { asset: ATTACKER }],
    ["dust", { amount: 999n }],
    ["no EIP-712 domain", { extra: {} }],
    ["another network in the client's copy", { accepted: { network: "eip155:8453" } }],
    ["a permit for another price", { method: "permit2", signed: { value: 1n } }],
  ])("asks nothing of the chain about %s", async (_, options) => {
    expect(await verify(options)).toMatchObject({ isValid: false });
    expect(node.requests).toHaveLength(0);
  });

  it("asks for the payer's code always, and for the token's once in a quarter of an hour", async () => {
    const askedFor = () =>
      node.requests
        .splice(0)
        .flat()
        .flatMap(({ method, params }) => (method === "eth_getCode" ? [params[0]] : []));
    await verify();
    askedFor();
    await verify();
    expect(askedFor()).toEqual([BUYER.address]);
    const nowMs = Date.now() + 901_000;
    const signed = { validBefore: BigInt(Math.ceil(nowMs / 1_000) + 100) };
    expect(await verify({ signed }, { nowMs })).toEqual(VALID);
    expect(askedFor()).toEqual([BUYER.address, USDC]);
  });

  it("needs the one round trip for what is judged after the signature", async () => {
    await verify({ signed: { value: 1n } });
    expect(node.requests).toHaveLength(1);
  });

  it("needs a second round trip and no third to say why the token refuses", async () => {
    expect(await verify({ amount: 2_000_000_000_000n })).toEqual(
      refused("invalid_exact_evm_insufficient_balance"),
    );
    expect(node.requests).toHaveLength(2);
  });
});
