// The EXTENSION-RESPONSES header of verify and settle: what became of a payment's bazaar block. For the seller's server
// only, never for buyers. Making it never throws and never takes long: a paid answer does not depend on it.

import type { BlockReading } from "../bazaar/block/extension.ts";
import { type HostRules, ownHostsOf } from "../bazaar/catalog/host-rules.ts";
import { observationHashOf } from "../bazaar/catalog/listing-identity.ts";
import type { Observation } from "../bazaar/catalog/observation.ts";
import { expiryOfSettle, expiryOfVerify, makeObservationId } from "../bazaar/catalog/observation-id.ts";
import type { Config, MacKey } from "../config.ts";
import { encodeJson } from "../platform/base64-json.ts";
import { describeError, log } from "../platform/log.ts";
import type { Call } from "./call.ts";

export type BazaarOutcome =
  | { status: "processing"; id: string }
  | { status: "success" }
  | { status: "rejected"; rejectedReason: string };

/** Headers to add to an answer: the one, or none. */
export type OutcomeHeaders = Record<string, string>;

const HEADER = "EXTENSION-RESPONSES";
/** Proxies limit all headers together; ours stays far below. */
const MAX_HEADER_BYTES = 1_024;

let knownRules: { origin: string; config: Config; rules: HostRules } | undefined;

/** The hosts that may not be listed: our own, and whatever is not public. The same for most calls of an isolate. */
export function hostRulesOf({ url: { origin }, config }: Pick<Call, "url" | "config">): HostRules {
  if (knownRules?.origin === origin && knownRules.config === config) return knownRules.rules;
  const { publicOrigin, allowLoopbackResources } = config;
  const rules = {
    ownHosts: ownHostsOf([origin, ...(publicOrigin === undefined ? [] : [publicOrigin])]),
    allowLoopback: allowLoopbackResources,
  };
  knownRules = { origin, config, rules };
  return rules;
}

/** After a verify that found the payment valid. `paymentId` is the settlement id that a settle of it would get. */
export function headersAfterVerify(
  reading: BlockReading,
  payment: { paymentId: string; validBeforeSeconds: bigint },
  { macKeys, nowMs }: { macKeys: readonly MacKey[]; nowMs: number },
): Promise<OutcomeHeaders> {
  return headersOf(reading, async (observation) => ({
    status: "processing",
    id: await idOf(
      observation,
      payment.paymentId,
      expiryOfVerify(payment.validBeforeSeconds, nowMs),
      macKeys,
    ),
  }));
}

/**
 * After a settle that succeeded or is pending. `isListed` says whether the catalog already shows exactly this; ask it
 * beside the settlement, and only when the settlement succeeded.
 */
export function headersAfterSettle(
  reading: BlockReading,
  payment: { paymentId: string; isListed: boolean },
  { macKeys, nowMs }: { macKeys: readonly MacKey[]; nowMs: number },
): Promise<OutcomeHeaders> {
  return headersOf(reading, async (observation) =>
    payment.isListed
      ? { status: "success" }
      : {
          status: "processing",
          id: await idOf(observation, payment.paymentId, expiryOfSettle(nowMs), macKeys),
        },
  );
}

/** The header's value: padded base64 of UTF-8 JSON, at most 1 KiB. */
export function encodeOutcome(outcome: BazaarOutcome): string {
  const value = encodeJson({ bazaar: outcome });
  if (value.length <= MAX_HEADER_BYTES) return value;
  return encodeOutcome({ status: "rejected", rejectedReason: "extensions.bazaar was rejected" });
}

async function headersOf(
  reading: BlockReading,
  outcomeOf: (observation: Observation) => Promise<BazaarOutcome>,
): Promise<OutcomeHeaders> {
  try {
    switch (reading.kind) {
      case "absent":
        return {};
      case "rejected":
        return { [HEADER]: encodeOutcome({ status: "rejected", rejectedReason: reading.reason }) };
      case "accepted":
        return { [HEADER]: encodeOutcome(await outcomeOf(reading.observation)) };
    }
  } catch (error) {
    log("extension_responses_failed", { cause: describeError(error) });
    return {};
  }
}

async function idOf(
  observation: Observation,
  paymentId: string,
  expiresAtMs: number,
  macKeys: readonly MacKey[],
): Promise<string> {
  const hash = await observationHashOf(paymentId, observation);
  return makeObservationId({ hash, expiresAtMs }, macKeys);
}
