// Use case of POST /v1/x402/challenge: a price for one capability, signed, with nothing stored. This file owns the
// random bytes of a nonce. The only reads are through the isolate's memory of the registry.

import type { Config } from "../config.ts";
import { assert } from "../platform/assert.ts";
import { pausedForSeconds } from "./breaker.ts";
import { makeChallenge } from "./challenge.ts";
import { NONCE_RANDOM_BYTES } from "./nonce.ts";
import { rememberedCapability } from "./registry-cache.ts";
import type { KeyRings } from "./signing-keys.ts";
import type { Challenge } from "./wire.ts";

export type ChallengeAnswer =
  | { ok: true; challenge: Challenge }
  /** No such capability of this provider. */
  | { ok: false; reason: "unknown" }
  /** The breaker is open. */
  | { ok: false; reason: "paused"; retryAfterSeconds: number };

export interface GatewayPorts {
  db: D1Database;
  config: Pick<Config, "gateway" | "macKeys">;
  rings: KeyRings;
}

export async function issueChallenge(
  { db, config, rings }: GatewayPorts,
  capabilityId: string,
  providerId: string,
  nowMs: number,
): Promise<ChallengeAnswer> {
  const capability = await rememberedCapability(db, capabilityId, nowMs);
  if (capability?.providerId !== providerId) return { ok: false, reason: "unknown" };
  const retryAfterSeconds = pausedForSeconds(capability.pausedUntilMs, nowMs);
  if (retryAfterSeconds > 0) return { ok: false, reason: "paused", retryAfterSeconds };
  const [macKey] = config.macKeys;
  assert(macKey, "there is a MAC key");
  const { amountMinor, currency, payTo } = capability;
  const challenge = await makeChallenge(
    { capabilityId, providerId, amountMinor, currency, payTo },
    nowMs + config.gateway.challengeMs,
    crypto.getRandomValues(new Uint8Array(NONCE_RANDOM_BYTES)),
    macKey,
    rings.challenge.current,
  );
  return { ok: true, challenge };
}
