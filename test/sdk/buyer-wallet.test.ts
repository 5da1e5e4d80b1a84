// What a buyer believes, against the published vectors: the keys come from where the gateway publishes them.

import { describe, expect, it } from "vitest";
import { BuyerWallet } from "../../src/sdk/buyer-wallet.ts";
import type { Proof } from "../../src/sdk/wire.ts";
import vectors from "../fixtures/gateway/signatures.json" with { type: "json" };

const { challenge, key: challengeKey } = vectors.challenge;
const { completed, failed, key: receiptKey, responseBody } = vectors.receipts;
const EXPIRES_MS = Date.parse(challenge.expiresAt);
const LIMIT = { maxMinor: 100n };
const bytes = new Uint8Array(Buffer.from(responseBody));

/** A gateway that publishes the vectors' keys, and counts how often it is asked. */
function gateway(published: object[] = [challengeKey, receiptKey]) {
  const asked: string[] = [];
  const keys = new Map(published.map((key) => [(key as { signingKeyId: string }).signingKeyId, key]));
  const answer: typeof fetch = async (input) => {
    const url = new URL(String(input));
    asked.push(url.pathname);
    const id = url.searchParams.get("signingKeyId") ?? url.pathname.split("/").at(-1) ?? "";
    const key = keys.get(id);
    return key ? Response.json(key) : new Response("{}", { status: 404 });
  };
  const wallet = new BuyerWallet({
    gatewayUrl: "https://souk.test",
    walletId: vectors.proof.proof.walletId,
    agentId: vectors.proof.proof.agentId,
    paymentKeySeed: vectors.proof.seed,
    fetch: answer,
  });
  return { wallet, asked };
}

describe("a buyer", () => {
  it("pays a challenge until the moment it expires", async () => {
    const { wallet, asked } = gateway();
    expect(await wallet.checkChallenge(challenge, LIMIT, EXPIRES_MS - 1)).toEqual({ ok: true, challenge });
    expect(await wallet.checkChallenge(challenge, LIMIT, EXPIRES_MS)).toEqual({
      ok: false,
      reason: "challenge_expired",
    });
    expect(asked).toEqual(["/v1/platform/public-key"]);
  });

  it("signs the published proof", async () => {
    const { wallet } = gateway();
    const { proof } = vectors.proof;
    expect(await wallet.sign(challenge, Date.parse(proof.issuedAt))).toEqual(proof);
  });

  it("pays exactly its limit and not a cent more", async () => {
    const { wallet } = gateway();
    expect(await wallet.checkChallenge(challenge, { maxMinor: 99n }, 0)).toMatchObject({
      reason: "over_limit",
    });
    expect(await wallet.checkChallenge(challenge, { maxMinor: 100n }, 0)).toMatchObject({ ok: true });
  });

  it("does not take a key for another one, whatever the gateway's answer says", async () => {
    const passedOff = { ...receiptKey, signingKeyId: challengeKey.signingKeyId };
    const { wallet } = gateway([passedOff]);
    expect(await wallet.checkChallenge(challenge, LIMIT, 0)).toMatchObject({
      reason: "challenge_not_signed",
    });
  });

  it("takes a gateway that does not answer for no verdict at all", async () => {
    const wallet = new BuyerWallet({
      ...{ gatewayUrl: "https://souk.test", walletId: "w", agentId: "a", paymentKeySeed: "11".repeat(32) },
      fetch: async () => new Response("", { status: 500 }),
    });
    await expect(wallet.checkChallenge(challenge, LIMIT, 0)).rejects.toThrow("answered 500");
  });

  it.each([null, "text", [], {}, { ...challenge, amountMinor: "-5" }, { ...challenge, amountMinor: "1e3" }])(
    "does not sign for %j",
    async (value) => {
      const { wallet } = gateway();
      expect(await wallet.checkChallenge(value, LIMIT, 0)).toMatchObject({ reason: "challenge_malformed" });
    },
  );

  it("believes a receipt of its own payment over exactly these bytes", async () => {
    const { wallet } = gateway();
    const proof = vectors.proof.proof as Proof;
    const problem = (receipt: unknown, body = bytes) =>
      wallet.findReceiptProblem(receipt, proof, challenge.payTo, body);
    expect(await problem(completed.receipt)).toBeUndefined();
    expect(await problem(failed.receipt, new Uint8Array())).toBeUndefined();
    expect(await problem(completed.receipt, new Uint8Array([...bytes, 10]))).toBe("response_altered");
    expect(await problem({ ...completed.receipt, responseHash: "00" })).toBe("receipt_not_signed");
    expect(await problem({ ...completed.receipt, extra: 1 })).toBe("receipt_not_signed");
    expect(await problem(undefined)).toBe("receipt_missing");
    expect(await wallet.findReceiptProblem(completed.receipt, proof, "wal_other", bytes)).toBe(
      "receipt_not_ours",
    );
    const otherProof = { ...proof, nonce: "another" };
    expect(await wallet.findReceiptProblem(completed.receipt, otherProof, challenge.payTo, bytes)).toBe(
      "receipt_not_ours",
    );
  });
});
