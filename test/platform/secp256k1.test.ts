import { secp256k1 as noble } from "@noble/curves/secp256k1";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recoverPublicKey, type Signature } from "../../src/platform/secp256k1.ts";

const N = noble.CURVE.n;
const P = noble.CURVE.Fp.ORDER;

/** What the reference library says: x and y, or null where it throws. */
function reference(hash: bigint, { r, s, isOdd }: Signature): { x: bigint; y: bigint } | null {
  try {
    const bytes = hash.toString(16).padStart(64, "0");
    return new noble.Signature(r, s)
      .addRecoveryBit(isOdd ? 1 : 0)
      .recoverPublicKey(bytes)
      .toAffine();
  } catch {
    return null;
  }
}

const scalar = fc.bigInt({ min: 1n, max: N - 1n });
const word = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });

describe("recoverPublicKey", () => {
  it("finds the key of every signature", () => {
    fc.assert(
      fc.property(scalar, word, (key, hash) => {
        const signature = noble.sign(hash.toString(16).padStart(64, "0"), key, { lowS: false });
        fc.pre(signature.recovery < 2);
        const found = recoverPublicKey(hash, {
          r: signature.r,
          s: signature.s,
          isOdd: signature.recovery === 1,
        });
        expect(found).toEqual(noble.ProjectivePoint.fromPrivateKey(key).toAffine());
      }),
      { numRuns: 200 },
    );
  });

  it("agrees with the reference library on numbers of chance, of which half are no signatures", () => {
    fc.assert(
      fc.property(word, word, word, fc.boolean(), (hash, r, s, isOdd) => {
        expect(recoverPublicKey(hash, { r, s, isOdd })).toEqual(reference(hash, { r, s, isOdd }));
      }),
      { numRuns: 300 },
    );
  });

  it("agrees where points meet: small multiples of G, small scalars, and their opposites", () => {
    const small = [1n, 2n, 3n, 8n, 15n, 63n, 64n];
    const scalars = [...small, ...small.map((value) => N - value)];
    for (const multiple of small) {
      const r = noble.ProjectivePoint.BASE.multiply(multiple).toAffine().x;
      for (const s of scalars) {
        for (const hash of [0n, s, (s * multiple) % N, multiple, N - s, N + 1n]) {
          for (const isOdd of [false, true]) {
            const signature = { r, s, isOdd };
            expect(recoverPublicKey(hash, signature)).toEqual(reference(hash, signature));
          }
        }
      }
    }
  });

  it("finds none where both parts cancel out", () => {
    // R = kG and sR = zG: the key would be the point at infinity.
    const point = noble.ProjectivePoint.BASE.multiply(12_345n).toAffine();
    const signature = { r: point.x, s: 1n, isOdd: (point.y & 1n) === 1n };
    expect(recoverPublicKey(12_345n, signature)).toBeNull();
    expect(reference(12_345n, signature)).toBeNull();
  });

  it.each([0n, N, N + 1n, P, (1n << 256n) - 1n])("refuses %s as r and as s", (value) => {
    expect(recoverPublicKey(1n, { r: value, s: 1n, isOdd: false })).toBeNull();
    expect(recoverPublicKey(1n, { r: 1n, s: value, isOdd: false })).toBeNull();
  });
});
