// A payTo's signed word: who signed, for which service, until when. Signed here by viem's accounts.

import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { type Claim, claimText, readClaim } from "../../src/bazaar/prober/claim.ts";

const NOW_MS = Date.UTC(2026, 10, 30, 12);
const ORIGIN = "https://souk.example.com";
const CONTEXT = { ownOrigins: [ORIGIN], nowMs: NOW_MS };
const owner = privateKeyToAccount(generatePrivateKey());

async function aClaim(change: Partial<Claim> = {}, signer = owner): Promise<Claim> {
  const claim = {
    action: "delist" as const,
    listingId: "lst_0123",
    origin: ORIGIN,
    expiresAt: new Date(NOW_MS + 60_000).toISOString(),
    nonce: "n-1",
    payTo: owner.address,
    signature: "0x",
    ...change,
  };
  return {
    ...claim,
    signature: change.signature ?? (await signer.signMessage({ message: claimText(claim) })),
  };
}

describe("a claim", () => {
  it("is signed over canonical JSON of its six fields", async () => {
    const claim = { ...(await aClaim()), expiresAt: "2026-11-30T12:01:00.000Z", payTo: "0xAbc", extra: 1 };
    expect(claimText(claim)).toBe(
      '{"action":"delist","expiresAt":"2026-11-30T12:01:00.000Z","listingId":"lst_0123","nonce":"n-1",' +
        '"origin":"https://souk.example.com","payTo":"0xAbc"}',
    );
  });

  it("stands when payTo's key signed it, in any letter case of the address", async () => {
    for (const payTo of [owner.address, owner.address.toLowerCase()]) {
      expect(await readClaim(await aClaim({ payTo }), CONTEXT)).toEqual({
        ok: true,
        expiresMs: NOW_MS + 60_000,
        signer: owner.address.toLowerCase(),
      });
    }
  });

  it("falls with every field that is changed after signing", async () => {
    const claim = await aClaim();
    const stranger = privateKeyToAccount(generatePrivateKey());
    for (const change of [
      { action: "reprobe" as const },
      { listingId: "lst_0124" },
      { expiresAt: new Date(NOW_MS + 61_000).toISOString() },
      { nonce: "n-2" },
      { payTo: stranger.address },
    ]) {
      expect(await readClaim({ ...claim, ...change }, CONTEXT)).toEqual({
        ok: false,
        reason: "not_signed_by_pay_to",
      });
    }
  });

  it("falls when a stranger signed it, or nobody", async () => {
    const stranger = privateKeyToAccount(generatePrivateKey());
    const zeros: Hex = `0x${"0".repeat(130)}`;
    const signatures: Hex[] = [
      (await aClaim({}, stranger)).signature as Hex,
      zeros,
      `0x${"f".repeat(130)}`,
      "0x",
    ];
    for (const signature of signatures) {
      expect(await readClaim(await aClaim({ signature }), CONTEXT)).toEqual({
        ok: false,
        reason: "not_signed_by_pay_to",
      });
    }
  });

  it("is for this service only", async () => {
    for (const origin of ["https://other.example.com", `${ORIGIN}/`, "http://souk.example.com"]) {
      expect(await readClaim(await aClaim({ origin }), CONTEXT)).toEqual({
        ok: false,
        reason: "wrong_origin",
      });
    }
  });

  it.each([
    ["a moment ago", 0, "expired"],
    ["in more than ten minutes", 600_001, "expires_too_late"],
  ])("does not stand when it expires %s", async (_when, fromNowMs, reason) => {
    const expiresAt = new Date(NOW_MS + fromNowMs).toISOString();
    expect(await readClaim(await aClaim({ expiresAt }), CONTEXT)).toEqual({ ok: false, reason });
  });

  it("stands when it expires in exactly ten minutes", async () => {
    const expiresAt = new Date(NOW_MS + 600_000).toISOString();
    expect(await readClaim(await aClaim({ expiresAt }), CONTEXT)).toMatchObject({ ok: true });
  });

  it("needs a time that exists", async () => {
    expect(await readClaim(await aClaim({ expiresAt: "2026-13-41T25:61:00Z" }), CONTEXT)).toEqual({
      ok: false,
      reason: "bad_expiry",
    });
  });
});
