// Keys of Souk's own: MAC keys of nonces and observation ids, and the gateway's signing keys with the times they serve.

import { fromHex } from "../platform/bytes.ts";
import { integer, list, type Report, type Variables } from "./variables.ts";

/** A symmetric key with the version byte that selects it. The first of a list signs, every one verifies. */
export interface MacKey {
  version: number;
  secret: Uint8Array<ArrayBuffer>;
}

/** Custodial paid calls. Without a key in both rings they are switched off and the rest is served. */
export interface GatewayConfig {
  /** A challenge can be paid for this long. */
  challengeMs: number;
  /** Money stays held for this long, then the buyer has it back. */
  holdMs: number;
  /** 32-byte ed25519 seeds; the first of each signs, all are published. */
  challengeSeeds: readonly Uint8Array<ArrayBuffer>[];
  receiptSeeds: readonly Uint8Array<ArrayBuffer>[];
  /** Raw public keys whose seeds are gone: their receipts can still be checked. */
  retiredReceiptKeys: readonly Uint8Array<ArrayBuffer>[];
}

/** Time for a buyer to look at a price and sign. */
const DEFAULT_CHALLENGE_SECONDS = 300;
/** The fifteen minutes in which a seller completes, fails, or the buyer is refunded. */
const DEFAULT_HOLD_SECONDS = 900;
/** A day: what an operator sets beyond it is a mistake. */
const MAX_SECONDS = 86_400;

/** `MAC_KEYS`: `<version>:<64 hex>` separated by commas, the signing key first; versions 0 to 255. */
export function readMacKeys(env: Variables, report: Report): MacKey[] {
  const keys: MacKey[] = [];
  for (const entry of list(env, "MAC_KEYS")) {
    const [version, hex = ""] = entry.split(":");
    const secret = fromHex(hex);
    if (!/^\d{1,3}$/.test(version ?? "") || Number(version) > 255 || secret?.length !== 32) {
      report("MAC_KEYS", "must be <version 0-255>:<64 hex digits>, separated by commas");
      return [];
    }
    keys.push({ version: Number(version), secret });
  }
  if (keys.length === 0) report("MAC_KEYS", "is missing: <version>:<64 hex digits>");
  return keys;
}

/** Signing keys: 64 hex digits each, separated by commas, the signing one first. */
export function readGateway(env: Variables, report: Report): GatewayConfig {
  const readKeys = (variable: string) => {
    const keys = list(env, variable).map(fromHex);
    if (keys.every((key) => key?.length === 32)) return keys as Uint8Array<ArrayBuffer>[];
    report(variable, "must be 64 hex digits each, separated by commas");
    return [];
  };
  return {
    challengeMs: 1_000 * integer(env, "CHALLENGE_SECONDS", DEFAULT_CHALLENGE_SECONDS, 1, MAX_SECONDS, report),
    holdMs: 1_000 * integer(env, "HOLD_SECONDS", DEFAULT_HOLD_SECONDS, 1, MAX_SECONDS, report),
    challengeSeeds: readKeys("CHALLENGE_SIGNING_KEYS"),
    receiptSeeds: readKeys("RECEIPT_SIGNING_KEYS"),
    retiredReceiptKeys: readKeys("RETIRED_RECEIPT_KEYS"),
  };
}
