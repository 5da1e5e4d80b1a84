// The gateway's face: the four routes of a paid call and the platform's public keys (CONTRACT.md section 4). A handler
// reads, calls one use case, answers; what a challenge, hold or receipt is stands in gateway/.

import { authorizeCall } from "../gateway/authorize-call.ts";
import { issueChallenge } from "../gateway/issue-challenge.ts";
import type { DecisionAnswer, PaidCallPort } from "../gateway/paid-call-port.ts";
import { cleanErrorText } from "../gateway/receipt.ts";
import { type KeyRing, type KeyRings, ringsOf } from "../gateway/signing-keys.ts";
import { describeError, log } from "../platform/log.ts";
import { isTransient, withOneRepeat } from "../platform/one-repeat.ts";
import { type Failure, failureAnswer, invalidRequest, json, notFound, tooLarge } from "./answers.ts";
import type { Call, Route } from "./call.ts";
import * as schemas from "./gateway-schemas.ts";
import { findProblem } from "./json-schema.ts";
import { readCompletion } from "./read-completion.ts";

async function challenge(call: Call): Promise<Response> {
  const opened = await openGateway(call);
  if (!opened.ok) return opened.response;
  const { capabilityId } = call.body as { capabilityId: string };
  const { env, config } = call;
  const ports = { db: env.DB, config, rings: opened.rings };
  const answer = await issueChallenge(ports, capabilityId, providerOf(call), call.clock.nowMs());
  if (answer.ok) return json(answer.challenge);
  if (answer.reason === "unknown") return failureAnswer("api", notFound("no such capability"));
  const message = "the provider failed too often; this capability is paused";
  const { retryAfterSeconds } = answer;
  return failureAnswer("api", { ...unavailable("CAPABILITY_UNAVAILABLE", message), retryAfterSeconds });
}

async function authorize(call: Call): Promise<Response> {
  const opened = await openGateway(call);
  if (!opened.ok) return opened.response;
  const { proof } = call.body as { proof: unknown };
  const ports = {
    db: call.env.DB,
    macKeys: call.config.macKeys,
    paidCall: (transactionId: string): Pick<PaidCallPort, "authorize"> => ({
      authorize: (request) => withOneRepeat(() => paidCallOf(call, transactionId).authorize(request)),
    }),
  };
  try {
    const answer = await authorizeCall(ports, proof, providerOf(call), call.requestId, call.clock.nowMs());
    if (answer.ok) return json(answer);
    if (answer.code === "UNKNOWN_CAPABILITY") return failureAnswer("api", notFound("no such capability"));
    return answer.code === "UNAVAILABLE" ? json(answer, 503, { "retry-after": "1" }) : json(answer, 402);
  } catch (error) {
    if (!isTransient(error)) throw error;
    log("authorize_unanswered", { requestId: call.requestId, cause: describeError(error) });
    const reason = "no answer; send the same proof again";
    return json({ ok: false, code: "UNAVAILABLE", reason }, 503, { "retry-after": "1" });
  }
}

async function complete(call: Call): Promise<Response> {
  const opened = await openGateway(call);
  if (!opened.ok) return opened.response;
  const reading = await readCompletion(call.request);
  if (!reading.ok) {
    const isTooLarge = reading.reason === "too_large";
    return failureAnswer(
      "api",
      isTooLarge ? tooLarge("16 MiB") : invalidRequest(reading.field, reading.message),
    );
  }
  const problem = findProblem(schemas.COMPLETE_BODY, reading.value);
  if (problem) return failureAnswer("api", invalidRequest(problem.field, problem.message));
  const { transactionId } = reading.value as { transactionId: string };
  return decide(call, transactionId, (paidCall) => paidCall.complete(providerOf(call), reading.responseHash));
}

async function fail(call: Call): Promise<Response> {
  const opened = await openGateway(call);
  if (!opened.ok) return opened.response;
  const body = call.body as {
    transactionId: string;
    error: string;
    kind?: "provider_error" | "client_error";
  };
  const errorText = cleanErrorText(body.error);
  const kind = body.kind ?? "provider_error";
  return decide(call, body.transactionId, (paidCall) => paidCall.fail(providerOf(call), kind, errorText));
}

const TRANSACTION_ID = /^txn_[0-9a-f]{32}$/;

/** An id of another form names nothing and touches no object. */
async function decide(
  call: Call,
  transactionId: string,
  ask: (paidCall: PaidCallPort) => Promise<DecisionAnswer>,
): Promise<Response> {
  const answer: DecisionAnswer = TRANSACTION_ID.test(transactionId)
    ? await withOneRepeat(() => ask(paidCallOf(call, transactionId)))
    : { ok: false, reason: "unknown" };
  if (answer.ok) return json(answer.receipt);
  switch (answer.reason) {
    case "unknown":
      return failureAnswer("api", notFound("no such transaction"));
    case "not_held":
      return failureAnswer("api", conflict("CALL_NOT_HELD", "no money is held for this call"));
    case "decided": {
      const error = { code: "CALL_DECIDED", message: "the call was decided before; see the receipt" };
      return json({ error, receipt: answer.receipt }, 409);
    }
  }
}

async function challengeKey(call: Call): Promise<Response> {
  return publishedKey(call, "challenge", (call.query.signingKeyId as string | undefined) ?? null);
}

async function receiptKey(call: Call): Promise<Response> {
  return publishedKey(call, "receipt", call.params.signingKeyId ?? "");
}

/** `null`: the key that signs now. */
async function publishedKey(
  call: Call,
  kind: keyof KeyRings,
  signingKeyId: string | null,
): Promise<Response> {
  const opened = await openGateway(call);
  if (!opened.ok) return opened.response;
  const ring: KeyRing = opened.rings[kind];
  const key = ring.published(signingKeyId ?? ring.current.id);
  return key ? json(key) : failureAnswer("api", notFound("no such key"));
}

type OpenGateway = { ok: true; rings: KeyRings } | { ok: false; response: Response };

/** Without its keys the gateway is off, and says which variable is missing; nothing else of the Worker is. */
async function openGateway({ config }: Call): Promise<OpenGateway> {
  const rings = await ringsOf(config.gateway);
  if (rings && config.macKeys.length > 0) return { ok: true, rings };
  const missing =
    config.macKeys.length === 0
      ? "MAC_KEYS"
      : config.gateway.challengeSeeds.length === 0
        ? "CHALLENGE_SIGNING_KEYS"
        : "RECEIPT_SIGNING_KEYS";
  const failure = unavailable("MISCONFIGURED", `the gateway is off: ${missing} is missing or wrong`);
  return {
    ok: false,
    response: failureAnswer("api", { ...failure, retryAfterSeconds: MISCONFIGURED_RETRY_SECONDS }),
  };
}

/** An operator has to act first. */
const MISCONFIGURED_RETRY_SECONDS = 60;

function unavailable(code: Failure["code"], message: string): Failure {
  return { status: 503, code, message, reason: "misconfigured" };
}

function conflict(code: Failure["code"], message: string): Failure {
  return { status: 409, code, message, reason: "conflict" };
}

function paidCallOf({ env }: Call, transactionId: string): PaidCallPort {
  return env.PAID_CALLS.getByName(transactionId);
}

/** The `provider` credential has checked that there is one. */
function providerOf({ caller }: Call): string {
  return (caller.kind === "tenant" ? caller.providerId : null) ?? "";
}

const PROVIDER = { kind: "provider" } as const;
const NONE = { kind: "none" } as const;

export const gatewayRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/x402/challenge",
    face: "api",
    credential: PROVIDER,
    summary: "A signed price for one call of a capability; stores nothing",
    body: schemas.CHALLENGE_BODY,
    isHot: true,
    answers: { 200: schemas.CHALLENGE },
    handle: challenge,
  },
  {
    method: "POST",
    path: "/v1/x402/authorize",
    face: "api",
    credential: PROVIDER,
    summary: "Check a buyer's proof and take its money into a hold; ok to one call only",
    body: schemas.AUTHORIZE_BODY,
    answers: { 200: schemas.AUTHORIZED, 402: schemas.REFUSED, 503: schemas.REFUSED },
    handle: authorize,
  },
  {
    method: "POST",
    path: "/v1/x402/complete",
    face: "api",
    credential: PROVIDER,
    summary: "Take the held money for exactly these response bytes; answers the signed receipt",
    body: schemas.COMPLETE_BODY,
    bodyIsStreamed: true,
    // The paid call's own line says how it ended.
    isHot: true,
    answers: { 200: schemas.RECEIPT, 409: schemas.DECIDED },
    handle: complete,
  },
  {
    method: "POST",
    path: "/v1/x402/fail",
    face: "api",
    credential: PROVIDER,
    summary: "Give the held money back; answers the signed receipt",
    body: schemas.FAIL_BODY,
    isHot: true,
    answers: { 200: schemas.RECEIPT, 409: schemas.DECIDED },
    handle: fail,
  },
  {
    method: "GET",
    path: "/v1/platform/public-key",
    face: "api",
    credential: NONE,
    summary: "The key that verifies challenges",
    query: schemas.KEY_QUERY,
    answers: { 200: schemas.PUBLIC_KEY },
    handle: challengeKey,
  },
  {
    method: "GET",
    path: "/v1/platform/receipt-keys/:signingKeyId",
    face: "api",
    credential: NONE,
    summary: "A key that verifies receipts; retired keys stay readable",
    answers: { 200: schemas.PUBLIC_KEY },
    handle: receiptKey,
  },
];
