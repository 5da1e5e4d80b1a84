// The platform's ed25519 keys: one ring signs challenges, another receipts. The first key of a ring signs; all are
// published, so that what an older one signed can still be checked. A key's id is derived from its public half.

import type { GatewayConfig } from "../config.ts";
import { assert } from "../platform/assert.ts";
import { toBase64 } from "../platform/bytes.ts";
import { signedBytes } from "../platform/canonical-json.ts";
import { type Signer, signerFromSeed, spkiOf } from "../platform/ed25519.ts";
import { keyIdOf, type RingKind } from "./key-id.ts";

type Bytes = Uint8Array<ArrayBuffer>;

export interface KeyRing {
  /** Signs new things. */
  current: SigningKey;
  /** A key that can still sign, by id. */
  signer(id: string): SigningKey | undefined;
  /** A public key by id: those that sign and those that are retired. */
  published(id: string): PublishedKey | undefined;
}

export interface SigningKey extends Signer {
  id: string;
}

/** As `GET /v1/platform/public-key` and `GET /v1/platform/receipt-keys/:signingKeyId` answer it. */
export interface PublishedKey {
  signingKeyId: string;
  algorithm: "ed25519";
  /** Base64 of the 32 raw bytes. */
  publicKey: string;
  /** Base64 of the SubjectPublicKeyInfo. */
  spki: string;
}

/** Opens a ring. `seeds` holds at least one 32-byte seed, the signing one first; `retired` raw public keys. */
export async function openKeyRing(
  kind: RingKind,
  seeds: readonly Bytes[],
  retired: readonly Bytes[],
): Promise<KeyRing> {
  const signers = new Map<string, SigningKey>();
  for (const seed of seeds) {
    const signer = await signerFromSeed(seed);
    const id = await keyIdOf(kind, signer.publicKey);
    signers.set(id, { ...signer, id });
  }
  const [current] = signers.values();
  assert(current, "a key ring has a key that signs");
  const published = new Map<string, PublishedKey>();
  for (const publicKey of [...[...signers.values()].map((signer) => signer.publicKey), ...retired]) {
    const signingKeyId = await keyIdOf(kind, publicKey);
    published.set(signingKeyId, {
      signingKeyId,
      algorithm: "ed25519",
      publicKey: toBase64(publicKey),
      spki: toBase64(spkiOf(publicKey)),
    });
  }
  return { current, signer: (id) => signers.get(id), published: (id) => published.get(id) };
}

export interface KeyRings {
  challenge: KeyRing;
  receipt: KeyRing;
}

/** The rings and not a promise of them: that would belong to the request that made it. */
const opened = new WeakMap<GatewayConfig, KeyRings>();

/** The isolate's two rings, kept once opened; undefined while a ring has no key that signs (the gateway is off). */
export async function ringsOf(gateway: GatewayConfig): Promise<KeyRings | undefined> {
  if (gateway.challengeSeeds.length === 0 || gateway.receiptSeeds.length === 0) return undefined;
  const known = opened.get(gateway);
  if (known) return known;
  const rings = await openRings(gateway);
  opened.set(gateway, rings);
  return rings;
}

async function openRings(gateway: GatewayConfig): Promise<KeyRings> {
  return {
    challenge: await openKeyRing("challenge", gateway.challengeSeeds, []),
    receipt: await openKeyRing("receipt", gateway.receiptSeeds, gateway.retiredReceiptKeys),
  };
}

/** Base64 of a key's signature over the canonical JSON of a challenge or receipt. */
export async function signatureOver(key: Signer, signable: object): Promise<string> {
  return toBase64(await key.sign(signedBytes(signable)));
}
