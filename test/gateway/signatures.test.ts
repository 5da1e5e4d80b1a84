// Challenges, proofs and receipts against published vectors, and the vectors against another implementation of
// Ed25519 (Node's own), so that code and vectors cannot be wrong together.

import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makeChallenge } from "../../src/gateway/challenge.ts";
import { isIssuedFor, readNonce, transactionIdOf } from "../../src/gateway/nonce.ts";
import { isAgentName, isSignedBy, proofHashOf, readProof } from "../../src/gateway/proof.ts";
import { cleanErrorText, receiptIdOf, signReceipt } from "../../src/gateway/receipt.ts";
import { openKeyRing } from "../../src/gateway/signing-keys.ts";
import type { ReceiptFields } from "../../src/gateway/wire.ts";
import { fromBase64, fromHex, sha256Hex, toBase64 } from "../../src/platform/bytes.ts";
import { signedBytes } from "../../src/platform/canonical-json.ts";
import { signerFromSeed } from "../../src/platform/ed25519.ts";
import vectors from "../fixtures/gateway/signatures.json" with { type: "json" };

const bytesOf = (hex: string) => fromHex(hex) ?? new Uint8Array();
const base64 = (text: string) => fromBase64(text) ?? new Uint8Array();
const { challenge, proof, receipts } = vectors;

describe("the published vectors", () => {
  it.each([
    ["challenge", challenge.canonical, challenge.challenge.signature, challenge.key.spki],
    [
      "completed receipt",
      receipts.completed.canonical,
      receipts.completed.receipt.signature,
      receipts.key.spki,
    ],
    ["failed receipt", receipts.failed.canonical, receipts.failed.receipt.signature, receipts.key.spki],
  ])("verify by another implementation: %s", (_name, canonical, signature, spki) => {
    const key = createPublicKey({ key: Buffer.from(spki, "base64"), format: "der", type: "spki" });
    expect(verify(null, Buffer.from(canonical), key, Buffer.from(signature, "base64"))).toBe(true);
    expect(verify(null, Buffer.from(`${canonical} `), key, Buffer.from(signature, "base64"))).toBe(false);
  });

  it("hold a proof that another implementation signs the same", () => {
    const pkcs8 = Buffer.from(`302e020100300506032b657004220420${proof.seed}`, "hex");
    const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
    expect(sign(null, Buffer.from(proof.canonical), key).toString("base64")).toBe(proof.proof.signature);
  });

  it("are what the code makes of their inputs", async () => {
    const challengeRing = await openKeyRing("challenge", [bytesOf(challenge.seed)], []);
    const macKey = { version: challenge.macKeyVersion, secret: bytesOf(challenge.macSecret) };
    const expiresAtMs = Date.parse(challenge.challenge.expiresAt);
    const made = await makeChallenge(
      challenge.challenge,
      expiresAtMs,
      bytesOf(challenge.random),
      macKey,
      challengeRing.current,
    );
    expect(made).toEqual(challenge.challenge);
    expect(challengeRing.published(challenge.key.signingKeyId)).toEqual(challenge.key);

    const receiptRing = await openKeyRing("receipt", [bytesOf(receipts.seed)], []);
    expect(receiptRing.published(receipts.key.signingKeyId)).toEqual(receipts.key);
    for (const { receipt, canonical } of [receipts.completed, receipts.failed]) {
      const { signature: _signature, signingKeyId: _signingKeyId, ...fields } = receipt;
      expect(await signReceipt(fields as ReceiptFields, receiptRing.current)).toEqual(receipt);
      expect(new TextDecoder().decode(signedBytes(receipt))).toBe(canonical);
    }
    expect(await sha256Hex(receipts.responseBody)).toBe(receipts.completed.receipt.responseHash);
  });

  it("lead from the challenge over the proof to the paid call", async () => {
    const reading = readProof(proof.proof);
    expect(reading).toMatchObject({ ok: true });
    const nonce = readNonce(proof.proof.nonce);
    const keys = [{ version: challenge.macKeyVersion, secret: bytesOf(challenge.macSecret) }];
    expect(nonce && (await isIssuedFor(nonce, challenge.challenge, keys))).toBe(true);
    expect(nonce && (await transactionIdOf(nonce))).toBe(proof.transactionId);
    expect(receiptIdOf(proof.transactionId)).toBe(receipts.completed.receipt.receiptId);
    expect(await isSignedBy(proof.proof, base64(proof.publicKey))).toBe(true);
    expect(await proofHashOf(proof.proof)).toBe(proof.proofHash);
    expect(JSON.parse(Buffer.from(proof.header, "base64").toString())).toEqual(proof.proof);
  });
});

describe("a proof", () => {
  it("is the same proof in any key order", async () => {
    const reordered = Object.fromEntries(Object.entries(proof.proof).reverse()) as typeof proof.proof;
    expect(await isSignedBy(reordered, base64(proof.publicKey))).toBe(true);
    expect(await proofHashOf(reordered)).toBe(proof.proofHash);
  });

  it.each(Object.keys(proof.proof).filter((name) => name !== "signature"))(
    "is no longer signed when %s changes",
    async (name) => {
      const changed = { ...proof.proof, [name]: "x" };
      expect(await isSignedBy(changed, base64(proof.publicKey))).toBe(false);
    },
  );

  it("is not signed when the signer signed another key order than the canonical one", async () => {
    const buyer = await signerFromSeed(bytesOf(proof.seed));
    const { signature: _signature, ...eight } = proof.proof;
    const text = JSON.stringify(eight);
    expect(text).not.toBe(proof.canonical);
    const signature = toBase64(await buyer.sign(new Uint8Array(Buffer.from(text))));
    expect(await isSignedBy({ ...eight, signature }, buyer.publicKey)).toBe(false);
  });

  it.each([
    ["a missing member", ({ agentId: _agentId, ...rest }: Record<string, unknown>) => rest],
    ["an extra member", (members: Record<string, unknown>) => ({ ...members, note: "unsigned" })],
    ["an amount as a number", (members: Record<string, unknown>) => ({ ...members, amountMinor: 100 })],
    [
      "an amount with a leading zero",
      (members: Record<string, unknown>) => ({ ...members, amountMinor: "0100" }),
    ],
    ["a negative amount", (members: Record<string, unknown>) => ({ ...members, amountMinor: "-100" })],
    ["an amount of nothing", (members: Record<string, unknown>) => ({ ...members, amountMinor: "0" })],
    ["a lower-case currency", (members: Record<string, unknown>) => ({ ...members, currency: "usd" })],
    [
      "a nonce with a trailing space",
      (members: Record<string, unknown>) => ({ ...members, nonce: `${members.nonce} ` }),
    ],
    [
      "a nonce with padding",
      (members: Record<string, unknown>) => ({ ...members, nonce: `${members.nonce}=` }),
    ],
    [
      "a date that is none",
      (members: Record<string, unknown>) => ({ ...members, issuedAt: "2026-13-24T10:12:03Z" }),
    ],
    [
      "a signature in base64url",
      (members: Record<string, unknown>) => ({ ...members, signature: `${"_".repeat(86)}==` }),
    ],
    [
      "a signature of 63 bytes",
      (members: Record<string, unknown>) => ({ ...members, signature: "A".repeat(84) }),
    ],
    ["an agent called *", (members: Record<string, unknown>) => ({ ...members, agentId: "*" })],
    ["an array", (members: Record<string, unknown>) => Object.values(members)],
    ["a text", (members: Record<string, unknown>) => JSON.stringify(members)],
    ["nothing", () => null],
  ])("is refused with %s", (_name, change) => {
    expect(readProof(change({ ...proof.proof }))).toMatchObject({ ok: false });
  });

  it("does not take members from a prototype", () => {
    const { agentId: _agentId, ...rest } = proof.proof;
    expect(readProof(Object.assign(Object.create({ agentId: "ghost" }), rest))).toMatchObject({ ok: false });
  });
});

describe("an agent's name", () => {
  it.each(["invoice-bot", "агент 7", "a", "x".repeat(100)])("may be %j", (name) => {
    expect(isAgentName(name)).toBe(true);
  });

  it.each(["", "*", " bot", "bot ", "a\nb", "a\u0000", "\ud800", "x".repeat(101)])(
    "may not be %j",
    (name) => {
      expect(isAgentName(name)).toBe(false);
    },
  );
});

describe("key rings", () => {
  const seeds = [bytesOf("aa".repeat(32)), bytesOf("bb".repeat(32))];

  it("sign with the first key, and publish all that sign and all that are retired", async () => {
    const retired = await signerFromSeed(bytesOf("cc".repeat(32)));
    const retiredRing = await openKeyRing("receipt", [bytesOf("cc".repeat(32))], []);
    const ring = await openKeyRing("receipt", seeds, [retired.publicKey]);
    const older = await openKeyRing("receipt", seeds.slice(1), []);
    expect(ring.current.id).toMatch(/^rck_[0-9a-f]{32}$/);
    expect(ring.published(ring.current.id)).toBeDefined();
    expect(ring.published(older.current.id)).toEqual(older.published(older.current.id));
    expect(ring.published(retiredRing.current.id)).toEqual(retiredRing.published(retiredRing.current.id));
    expect(ring.signer(retiredRing.current.id)).toBeUndefined();
    expect(ring.published("rck_unknown")).toBeUndefined();
  });

  it("give a key another id as a challenge key than as a receipt key", async () => {
    const ring = await openKeyRing("challenge", seeds, []);
    expect(ring.current.id).toMatch(/^chk_[0-9a-f]{32}$/);
  });
});

describe("a provider's words on a failure", () => {
  it("are cut at 200 characters, whole ones, without control characters", () => {
    expect(cleanErrorText("a\r\nb\u0000\u0085c")).toBe("a b c");
    expect([...cleanErrorText("😀".repeat(300))]).toHaveLength(200);
  });
});
