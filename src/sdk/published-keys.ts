// The platform's public keys as a buyer knows them: fetched once each from the gateway that the buyer chose to trust.

import { keyIdOf, type RingKind } from "../gateway/key-id.ts";
import { fromBase64 } from "../platform/bytes.ts";
import { signedBytes } from "../platform/canonical-json.ts";
import { verifyEd25519 } from "../platform/ed25519.ts";

export interface GatewayAddress {
  /** The gateway's origin: whose keys are believed. */
  gatewayUrl: string;
  fetch?: typeof fetch;
}

const PATHS: Record<RingKind, (id: string) => string> = {
  challenge: (id) => `/v1/platform/public-key?signingKeyId=${encodeURIComponent(id)}`,
  receipt: (id) => `/v1/platform/receipt-keys/${encodeURIComponent(id)}`,
};

const TIMEOUT_MS = 15_000;

export class PublishedKeys {
  readonly #gateway: GatewayAddress;
  readonly #known = new Map<string, Uint8Array<ArrayBuffer>>();

  constructor(gateway: GatewayAddress) {
    this.#gateway = gateway;
  }

  /**
   * Whether a challenge or receipt is signed by a key that the gateway publishes for it. Throws when the gateway does
   * not answer: that says nothing about the signature.
   */
  async verifies(kind: RingKind, signed: { signature: string; signingKeyId: string }): Promise<boolean> {
    const signature = fromBase64(signed.signature);
    const key = await this.#key(kind, signed.signingKeyId);
    return key !== undefined && signature !== undefined && verifyEd25519(key, signature, signedBytes(signed));
  }

  async #key(kind: RingKind, id: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const known = this.#known.get(`${kind} ${id}`);
    if (known) return known;
    const { gatewayUrl, fetch: send = fetch } = this.#gateway;
    const response = await send(new URL(PATHS[kind](id), gatewayUrl), {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`the gateway answered ${response.status} for a key`);
    const { publicKey } = (await response.json()) as { publicKey?: string };
    const key = fromBase64(publicKey ?? "");
    // An id is derived from its key, so one key cannot be passed off as another.
    if (!key || (await keyIdOf(kind, key)) !== id) return undefined;
    this.#known.set(`${kind} ${id}`, key);
    return key;
  }
}
