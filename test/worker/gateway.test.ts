// Paid calls through the Worker's own routes: what a challenge, an authorize, a completion and a failure answer, and that
// one nonce makes one hold.

import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { AuthorizeRequest } from "../../src/gateway/paid-call-port.ts";
import { fromBase64, sha256Hex, toBase64, utf8 } from "../../src/platform/bytes.ts";
import { signedBytes } from "../../src/platform/canonical-json.ts";
import { verifyEd25519 } from "../../src/platform/ed25519.ts";
import { aMarket, api, aSigner, aWallet, operator, type PublicKey, paidCallOf, tablesOf } from "./market.ts";

const market = await aMarket();
const stranger = await aMarket();

const bytes = (base64: string | undefined) => fromBase64(base64 ?? "") ?? new Uint8Array();

async function isSigned(signable: { signature?: string }, path: string): Promise<boolean> {
  const { body } = await api<PublicKey>("GET", path);
  return verifyEd25519(bytes(body.publicKey), bytes(signable.signature), signedBytes(signable));
}

describe("a paid call", () => {
  it("goes from a signed challenge over a hold to a signed receipt, and the money moves once", async () => {
    const { buyer, payee, providerId, capabilityId } = market;
    const before = await market.balances();
    const challenge = await market.challenge();
    expect(challenge).toMatchObject({
      ...{ capabilityId, providerId, amountMinor: "100", currency: "USD", payTo: payee.walletId },
    });
    const inMs = Date.parse(challenge.expiresAt) - Date.now();
    expect(inMs).toBeGreaterThan(290_000);
    expect(inMs).toBeLessThanOrEqual(300_000);
    const keyPath = `/v1/platform/public-key?signingKeyId=${challenge.signingKeyId}`;
    expect(await isSigned(challenge, keyPath)).toBe(true);
    expect(await isSigned(challenge, "/v1/platform/public-key")).toBe(true);
    expect(await isSigned({ ...challenge, amountMinor: "1" } as typeof challenge, keyPath)).toBe(false);

    const authorized = await market.authorize(await market.proof(challenge));
    expect(authorized).toMatchObject({ status: 200, body: { ok: true } });
    const transactionId = authorized.body.transactionId ?? "";
    expect(transactionId).toMatch(/^txn_[0-9a-f]{32}$/);
    expect(await market.balances()).toEqual({
      available: before.available - 100,
      held: before.held + 100,
      earned: before.earned,
    });

    const { status, body: receipt } = await market.complete(transactionId, "böse Bytes \u0000");
    expect(status).toBe(200);
    expect(receipt).toMatchObject({
      ...{ transactionId, status: "completed", capabilityId, providerId, walletId: buyer.walletId },
      ...{ agentId: "bot", amountMinor: "100", currency: "USD", payTo: payee.walletId },
      ...{ nonce: challenge.nonce, responseHash: await sha256Hex("böse Bytes \u0000"), failureKind: null },
      receiptId: transactionId.replace("txn_", "rcp_"),
    });
    expect(await isSigned(receipt, `/v1/platform/receipt-keys/${receipt.signingKeyId}`)).toBe(true);
    expect(await market.balances()).toEqual({
      available: before.available - 100,
      held: before.held,
      earned: before.earned + 100,
    });
  });

  it("that fails gives the money back and answers a signed receipt that says so", async () => {
    const before = await market.balances();
    const transactionId = await market.hold();
    const { status, body: receipt } = await market.fail(transactionId, "client_error");
    expect(status).toBe(200);
    expect(receipt).toMatchObject({ status: "failed", failureKind: "client_error", responseHash: null });
    expect(await isSigned(receipt, `/v1/platform/receipt-keys/${receipt.signingKeyId}`)).toBe(true);
    expect(await market.balances()).toEqual(before);
  });

  it("that fails counts as the provider's error when the seller says nothing else", async () => {
    expect((await market.fail(await market.hold())).body.failureKind).toBe("provider_error");
  });

  it("shows the provider's words to the owner, without control characters and cut", async () => {
    const transactionId = await market.hold();
    await market.fail(transactionId, undefined, `no\u0007 way ${"x".repeat(500)}`);
    const path = `/v1/wallets/${market.buyer.walletId}/entries?limit=1`;
    const { body } = await api<{ entries: { kind: string; reason: string }[] }>("GET", path, {
      token: market.buyer.ownerKey,
    });
    expect(body.entries[0]).toMatchObject({
      kind: "release",
      reason: expect.stringMatching(/^no {2}way x+$/),
    });
    expect(body.entries[0]?.reason).toHaveLength(200);
  });
});

describe("one nonce", () => {
  it("makes one hold and one ok:true of 20 parallel uses of the same proof", async () => {
    const before = await market.balances();
    const proof = await market.proof(await market.challenge());
    const answers = await Promise.all(Array.from({ length: 20 }, () => market.authorize(proof)));
    const taken = answers.filter(({ body }) => body.ok);
    expect(taken).toHaveLength(1);
    for (const { status, body } of answers.filter((answer) => !taken.includes(answer))) {
      expect({ status, code: body.code }).toEqual({ status: 402, code: "NONCE_REPLAYED" });
    }
    expect((await market.balances()).held).toBe(before.held + 100);
    await market.release(taken[0]?.body.transactionId);
  });

  it("makes one hold of 20 parallel uses in 20 different proofs", async () => {
    const before = await market.balances();
    const challenge = await market.challenge();
    const proofs = await Promise.all(
      Array.from({ length: 20 }, (_, at) => market.proof(challenge, { agentId: `bot ${at}` })),
    );
    const answers = await Promise.all(proofs.map(market.authorize));
    const taken = answers.filter(({ body }) => body.ok);
    expect(taken).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === "NONCE_REPLAYED")).toHaveLength(19);
    expect((await market.balances()).held).toBe(before.held + 100);
    await market.release(taken[0]?.body.transactionId);
  });

  it("is told ok:true again in the Worker's one repeat of a call whose answer was lost, and no other call is", async () => {
    const proof = await market.proof(await market.challenge());
    const { PAID_CALLS } = env;
    let asked = 0;
    const loseFirstAnswer = {
      getByName: (name: string) => ({
        authorize: async (request: AuthorizeRequest) => {
          const answer = await PAID_CALLS.getByName(name).authorize(request);
          asked += 1;
          if (asked === 1) throw Object.assign(new Error("connection lost"), { retryable: true });
          return answer;
        },
      }),
    };
    try {
      Object.assign(env, { PAID_CALLS: loseFirstAnswer });
      expect((await market.authorize(proof)).body.ok).toBe(true);
      expect(asked).toBe(2);
      expect((await market.authorize(proof)).body.code).toBe("NONCE_REPLAYED");
      asked = 0;
      const lost = await market.authorize(proof);
      expect(lost.body.code).toBe("NONCE_REPLAYED");
    } finally {
      Object.assign(env, { PAID_CALLS });
    }
  });

  it("is replayed after its call was completed or failed", async () => {
    for (const end of [market.complete, market.release]) {
      const proof = await market.proof(await market.challenge());
      const { body } = await market.authorize(proof);
      await end(body.transactionId ?? "");
      expect((await market.authorize(proof)).body).toMatchObject({ ok: false, code: "NONCE_REPLAYED" });
    }
  });

  it("is fresh again after a refusal, and nothing is stored for that", async () => {
    const poor = await aMarket({ balance: "0" });
    const challenge = await poor.challenge();
    const proof = await poor.proof(challenge);
    expect((await poor.authorize(proof)).body.code).toBe("INSUFFICIENT_BALANCE");
    expect(await tablesOf(paidCallOf(`txn_${(await nonceHash(challenge.nonce)).slice(0, 32)}`))).toBe(0);
    await api("POST", `/v1/wallets/${poor.buyer.walletId}/credits`, {
      token: operator,
      headers: { "idempotency-key": "1" },
      body: { amountMinor: "100", reason: "funding" },
    });
    expect((await poor.authorize(proof)).body.ok).toBe(true);
  });
});

async function nonceHash(nonce: string): Promise<string> {
  const raw = Uint8Array.from(atob(nonce.replaceAll("-", "+").replaceAll("_", "/")), (char) =>
    char.charCodeAt(0),
  );
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", raw));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

describe("authorize refuses", () => {
  const refusals: [string, string, () => Promise<unknown>][] = [
    ["a proof that is none", "INVALID_PROOF", async () => "proof"],
    [
      "a nonce with a trailing space",
      "INVALID_PROOF",
      async () => {
        const challenge = await market.challenge();
        return market.proof(challenge, { nonce: `${challenge.nonce} ` });
      },
    ],
    [
      "another base64url spelling of a good nonce",
      "INVALID_PROOF",
      async () => {
        const challenge = await market.challenge();
        return market.proof(challenge, { nonce: respelled(challenge.nonce) });
      },
    ],
    [
      "a signature over another key order",
      "INVALID_SIGNATURE",
      async () => {
        const { signature: _signature, ...eight } = await market.proof(await market.challenge());
        return {
          ...eight,
          signature: toBase64(await market.buyer.payment.sign(utf8(JSON.stringify(eight)))),
        };
      },
    ],
    [
      "a signature by another key",
      "INVALID_SIGNATURE",
      async () => market.proof(await market.challenge(), {}, await aSigner()),
    ],
    [
      "a wallet that does not exist",
      "INVALID_SIGNATURE",
      async () => market.proof(await market.challenge(), { walletId: "wal_nobody" }),
    ],
    [
      "a nonce that was never issued",
      "CHALLENGE_MISMATCH",
      async () => market.proof(await market.challenge(), { nonce: "A".repeat(47) }),
    ],
    [
      "an altered nonce",
      "CHALLENGE_MISMATCH",
      async () => {
        const challenge = await market.challenge();
        const changed = challenge.nonce[12] === "A" ? "B" : "A";
        return market.proof(challenge, {
          nonce: challenge.nonce.slice(0, 12) + changed + challenge.nonce.slice(13),
        });
      },
    ],
    [
      "the nonce of a stranger's challenge",
      "CHALLENGE_MISMATCH",
      async () => market.proof(await market.challenge(), { nonce: (await stranger.challenge()).nonce }),
    ],
    [
      "another price",
      "CHALLENGE_MISMATCH",
      async () => market.proof(await market.challenge(), { amountMinor: "99" }),
    ],
    [
      "another currency",
      "CHALLENGE_MISMATCH",
      async () => market.proof(await market.challenge(), { currency: "EUR" }),
    ],
    [
      "another provider in the proof",
      "CHALLENGE_MISMATCH",
      async () => market.proof(await market.challenge(), { providerId: stranger.providerId }),
    ],
    [
      "a wallet of another currency",
      "INSUFFICIENT_BALANCE",
      async () => {
        const euros = await aWallet("EUR");
        return market.proof(await market.challenge(), { walletId: euros.walletId }, euros.payment);
      },
    ],
  ];

  it.each(refusals)("%s: %s", async (_name, code, submitted) => {
    const before = await market.balances();
    const { status, body } = await market.authorize(await submitted());
    expect({ status, code: body.code, ok: body.ok }).toEqual({ status: 402, code, ok: false });
    expect(body.reason).toEqual(expect.any(String));
    expect(await market.balances()).toEqual(before);
  });

  it("takes a proof whose members come in another order", async () => {
    const proof = await market.proof(await market.challenge());
    const { body } = await market.authorize(Object.fromEntries(Object.entries(proof).reverse()));
    expect(body.ok).toBe(true);
    await market.release(body.transactionId);
  });
});

/** The same bytes with a spare bit set in the last character: decoders that are not strict read it as the nonce. */
function respelled(nonce: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return nonce.slice(0, -1) + alphabet[alphabet.indexOf(nonce.at(-1) ?? "") | 1];
}
