// POST /discovery/validate: a seller's preflight. Asks the seller's server as the prober would, within the same bounds,
// and says what keeps it out of the bazaar. Open to anyone, so it is braked per caller and per target, and it answers
// with checks, never with what the server sent.

import { isLoopbackHost } from "../bazaar/catalog/host-rules.ts";
import { listingIdOf } from "../bazaar/catalog/listing-identity.ts";
import type { Offer } from "../bazaar/catalog/offer.ts";
import { askOrigin, proberUserAgent, readQuestion } from "../bazaar/prober/ask-origin.ts";
import { findStanding, type ListingStanding } from "../bazaar/prober/decision-store.ts";
import { judgeAnswer } from "../bazaar/prober/preflight.ts";
import type { Config } from "../config.ts";
import { tokenOf } from "../payments/networks.ts";
import { describeSupported } from "../payments/supported.ts";
import { failureAnswer, json } from "./answers.ts";
import type { Call, Route } from "./call.ts";
import { hostRulesOf } from "./extension-responses.ts";
import type { JsonSchema } from "./json-schema.ts";
import { isAnyOver } from "./rate-limit.ts";

async function validate(call: Call): Promise<Response> {
  const { env, config, requestId } = call;
  const { resource, method = "GET" } = call.body as { resource: string; method?: "GET" | "POST" };
  const ip = call.request.headers.get("cf-connecting-ip") ?? "unknown";
  if (await isAnyOver([env.VALIDATE_CALLER_LIMIT.limit({ key: ip })], requestId)) return TOO_MANY();

  const rules = hostRulesOf(call);
  const question = { type: "http", url: resource, method } as const;
  const target = readQuestion(question, rules);
  if (target.ok) {
    // All ports are one host; on loopback they are neighbours.
    const { host, hostname } = target.url;
    const key = isLoopbackHost(hostname) ? host : hostname;
    if (await isAnyOver([env.VALIDATE_TARGET_LIMIT.limit({ key })], requestId)) return TOO_MANY();
  }
  const userAgent = proberUserAgent(config.publicOrigin ?? call.url.origin);
  const answer = await askOrigin(question, { rules, userAgent });
  const { identity, ...preflight } = judgeAnswer(
    { url: target.ok ? target.url.href : resource, method },
    answer,
    { rules, findSettleProblem: (offer) => findSettleProblem(offer, config) },
  );
  const standing = await findStanding(env.DB, await listingIdOf(identity));
  return json({ ...preflight, ...(standing && withStanding(preflight, standing)) });
}

/** The prober lifts what the prober found; what somebody decided stands. */
function withStanding(preflight: { wouldList: boolean; reason?: string }, standing: ListingStanding) {
  const { hiddenReason } = standing;
  const isDecided = hiddenReason === "operator" || hiddenReason === "delisted";
  const reason =
    hiddenReason === "operator" ? "the operator hid this listing" : "its payTo delisted this listing";
  return {
    ...(isDecided && { wouldList: false, reason: preflight.reason ?? reason }),
    listing: wordStanding(standing),
  };
}

function wordStanding({ id, state, hiddenReason, health, verifiedAtMs, lastProbeAtMs }: ListingStanding) {
  return {
    id,
    state,
    ...(hiddenReason !== null && { hiddenReason }),
    health,
    ...(verifiedAtMs !== null && { verifiedAt: new Date(verifiedAtMs).toISOString() }),
    ...(lastProbeAtMs !== null && { lastProbeAt: new Date(lastProbeAtMs).toISOString() }),
  };
}

/** What `/verify` would refuse of an offer before it looked at a payment. */
function findSettleProblem(
  { scheme, network: id, asset, amount }: Offer,
  { networks }: Config,
): string | null {
  const network = networks.get(id);
  if (!network) return "its network is not served";
  const { kinds } = describeSupported([network]);
  if (!kinds.some((kind) => kind.scheme === scheme)) return "its scheme is not served";
  const token = tokenOf(network, asset);
  if (!token) return "its asset is not in the allowlist";
  return BigInt(amount) < token.minimumAtomic ? "its amount is below the minimum" : null;
}

const TOO_MANY = () =>
  failureAnswer("api", {
    status: 429,
    code: "RATE_LIMITED",
    message: "10 a minute from one address, 2 a minute for one host",
    reason: "rate_limited",
    retryAfterSeconds: 60,
  });

const text: JsonSchema = { type: "string" };

const CHECK: JsonSchema = {
  type: "object",
  required: ["name", "ok", "severity", "detail"],
  properties: {
    name: text,
    ok: { type: "boolean" },
    severity: { enum: ["error", "warning"] },
    detail: text,
    expected: text,
    actual: text,
  },
};

const LISTING: JsonSchema = {
  type: "object",
  required: ["id", "state", "health"],
  properties: {
    id: text,
    state: { enum: ["listed", "hidden"] },
    hiddenReason: text,
    health: text,
    verifiedAt: text,
    lastProbeAt: text,
  },
};

export const preflightRoute: Route = {
  method: "POST",
  path: "/discovery/validate",
  face: "api",
  credential: { kind: "none" },
  summary: "Would this resource be listed, and if not, why not",
  body: {
    type: "object",
    required: ["resource"],
    additionalProperties: false,
    properties: {
      resource: { type: "string", minLength: 1, maxLength: 2_048 },
      method: { enum: ["GET", "POST"] },
    },
  },
  answers: {
    200: {
      type: "object",
      required: ["checks", "wouldList"],
      properties: {
        checks: { type: "array", items: CHECK },
        wouldList: { type: "boolean" },
        reason: text,
        listing: LISTING,
      },
    },
  },
  handle: validate,
};
