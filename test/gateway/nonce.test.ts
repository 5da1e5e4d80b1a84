// The nonce says what it was issued for and cannot be altered, moved to other terms or spelled another way.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MacKey } from "../../src/config.ts";
import { isIssuedFor, makeNonce, readNonce, transactionIdOf } from "../../src/gateway/nonce.ts";
import type { Terms } from "../../src/gateway/wire.ts";
import { toBase64Url } from "../../src/platform/bytes.ts";

const key = (version: number, fill: number): MacKey => ({ version, secret: new Uint8Array(32).fill(fill) });
const KEYS = [key(2, 0xab), key(1, 0xcd)];
const TERMS: Terms = {
  capabilityId: "cap_1",
  providerId: "prv_1",
  amountMinor: "100",
  currency: "USD",
  payTo: "wal_1",
};
const EXPIRY_MS = 1_790_000_000_123;

const aNonce = (macKey = KEYS[0] as MacKey, fill = 7) =>
  makeNonce(TERMS, macKey, EXPIRY_MS, new Uint8Array(12).fill(fill));

async function isOurs(text: string, terms: Terms = TERMS, keys: readonly MacKey[] = KEYS): Promise<boolean> {
  const nonce = readNonce(text);
  return nonce !== undefined && isIssuedFor(nonce, terms, keys);
}

describe("a challenge nonce", () => {
  it("comes back with its expiry and is recognised for its terms", async () => {
    const text = await aNonce();
    expect(readNonce(text)).toMatchObject({ expiresAtMs: EXPIRY_MS, keyVersion: 2 });
    expect(await isOurs(text)).toBe(true);
  });

  it("is recognised under an older key while that key still serves, and not after", async () => {
    const text = await aNonce(KEYS[1]);
    expect(await isOurs(text)).toBe(true);
    expect(await isOurs(text, TERMS, KEYS.slice(0, 1))).toBe(false);
  });

  it.each([
    ["another price", { amountMinor: "99" }],
    ["another capability", { capabilityId: "cap_2" }],
    ["another provider", { providerId: "prv_2" }],
    ["another currency", { currency: "EUR" }],
    ["another payee", { payTo: "wal_2" }],
  ])("does not fit %s", async (_name, change) => {
    expect(await isOurs(await aNonce(), { ...TERMS, ...change })).toBe(false);
  });

  it("does not fit terms whose texts run together the same", async () => {
    const shifted = { ...TERMS, capabilityId: "cap_1p", providerId: "rv_1" };
    expect(await isOurs(await aNonce(), shifted)).toBe(false);
  });

  it("is refused with any single bit altered, the random ones included", async () => {
    const bytes = readNonce(await aNonce())?.bytes ?? new Uint8Array();
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length * 8 - 1), async (bit) => {
        const altered = bytes.slice();
        altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(await isOurs(toBase64Url(altered))).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it("has one spelling: spare bits, padding, the other alphabet and white space are not it", async () => {
    const text = await aNonce();
    const last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const spareBits = text.slice(0, -1) + last[last.indexOf(text.at(-1) ?? "") | 1];
    for (const respelled of [
      spareBits,
      `${text}=`,
      `${text} `,
      ` ${text}`,
      `${text}\n`,
      `${text}A`,
      text.slice(1),
    ]) {
      expect(readNonce(respelled), respelled).toBeUndefined();
    }
    const withOtherAlphabet = await makeNonce(
      TERMS,
      KEYS[0] as MacKey,
      EXPIRY_MS,
      new Uint8Array(12).fill(0xff),
    );
    expect(withOtherAlphabet).toContain("_");
    expect(readNonce(withOtherAlphabet.replaceAll("_", "/").replaceAll("-", "+"))).toBeUndefined();
  });

  it("keeps any expiry of the next thousand years", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 33_000_000_000_000 }), async (expiresAtMs) => {
        const text = await makeNonce(TERMS, KEYS[0] as MacKey, expiresAtMs, new Uint8Array(12));
        expect(readNonce(text)?.expiresAtMs).toBe(expiresAtMs);
      }),
    );
  });

  it("names one paid call: other random bytes, another transaction id", async () => {
    const ids = await Promise.all(
      [1, 1, 2].map(async (fill) => {
        const nonce = readNonce(await aNonce(KEYS[0], fill));
        return nonce && transactionIdOf(nonce);
      }),
    );
    expect(ids[0]).toMatch(/^txn_[0-9a-f]{32}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });
});
