// POST /discovery/claims: a payTo takes its own offers out of the bazaar, or has the origin asked again, by a message
// that its key signed. The signature is the credential.

import { type Claim, type ClaimReading, readClaim } from "../bazaar/prober/claim.ts";
import { decideAsPayTo } from "../bazaar/prober/decision-store.ts";
import { type Failure, failureAnswer, json, notFound } from "./answers.ts";
import type { Call, Route } from "./call.ts";
import { requestProbe } from "./listing-decisions.ts";

async function claim(call: Call): Promise<Response> {
  const { env, clock, config } = call;
  const sent = call.body as Claim;
  const nowMs = clock.nowMs();
  const { publicOrigin = "" } = config;
  const stated = URL.canParse(publicOrigin) ? [new URL(publicOrigin).origin] : [];
  const ownOrigins = [call.url.origin, ...stated];
  const reading = await readClaim(sent, { ownOrigins, nowMs });
  if (!reading.ok) return failureAnswer("api", FAILURES[reading.reason]);
  const { listingId, action, nonce } = sent;
  const { signer: payTo, expiresMs } = reading;
  const outcome = await decideAsPayTo(env.DB, { listingId, action, payTo, nonce, expiresMs }, nowMs);
  if (!outcome.ok) return failureAnswer("api", FAILURES[outcome.reason]);
  if (action === "reprobe") requestProbe(call, listingId);
  return json({ listingId, state: outcome.state });
}

type Reason = Extract<ClaimReading, { ok: false }>["reason"] | "not_found" | "used_nonce";

function invalid(message: string): Failure {
  return { status: 400, code: "INVALID_REQUEST", message, reason: "invalid_claim" };
}

const FAILURES: Record<Reason, Failure> = {
  wrong_origin: invalid("origin must be the origin of this service"),
  bad_expiry: invalid("expiresAt must be a time in ISO 8601"),
  expired: invalid("expiresAt is over"),
  expires_too_late: invalid("expiresAt must be within 10 minutes"),
  not_signed_by_pay_to: {
    status: 401,
    code: "UNAUTHORIZED",
    message: "signature must be payTo's own EIP-191 signature; contract wallets cannot sign claims",
    reason: "unauthorized",
  },
  not_found: notFound("this payTo has no offer in such a listing"),
  used_nonce: { status: 409, code: "CONFLICT", message: "nonce was used before", reason: "conflict" },
};

export const claimRoute: Route = {
  method: "POST",
  path: "/discovery/claims",
  face: "api",
  credential: { kind: "none" },
  summary: "Delist the signer's own offers, or have the origin asked again",
  body: {
    type: "object",
    required: ["action", "listingId", "origin", "expiresAt", "nonce", "payTo", "signature"],
    additionalProperties: false,
    properties: {
      action: { enum: ["delist", "reprobe"] },
      listingId: { type: "string", pattern: "^[\\x21-\\x7e]{1,64}$" },
      origin: { type: "string", maxLength: 256 },
      expiresAt: { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?Z$" },
      nonce: { type: "string", pattern: "^[\\x21-\\x7e]{1,128}$" },
      payTo: { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" },
      signature: { type: "string", pattern: "^0x[0-9a-fA-F]{130}$" },
    },
  },
  answers: {
    200: {
      type: "object",
      required: ["listingId", "state"],
      properties: { listingId: { type: "string" }, state: { enum: ["listed", "hidden"] } },
    },
  },
  handle: claim,
};
