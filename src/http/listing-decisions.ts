// POST /v1/listings/:id/{hide,restore}: an operator's decision about a listing. It stands until it is taken back; the
// prober never undoes it.

import { decideAsOperator } from "../bazaar/prober/decision-store.ts";
import { describeError, log } from "../platform/log.ts";
import { failureAnswer, json, notFound } from "./answers.ts";
import type { Call, Route } from "./call.ts";

async function decide(call: Call, action: "hide" | "restore"): Promise<Response> {
  const listingId = call.params.id ?? "";
  const { reason } = call.body as { reason: string };
  const state = await decideAsOperator(call.env.DB, listingId, action, reason, call.clock.nowMs());
  if (state === undefined) return failureAnswer("api", notFound("no such listing"));
  if (action === "restore") requestProbe(call, listingId);
  return json({ listingId, state });
}

/** The listing is due already; this is the quicker way, and the answer does not wait for it. */
export function requestProbe({ ctx, env }: Call, listingId: string): void {
  const sent = env.PROBE_QUEUE.send({ listingId }).catch((error: unknown) => {
    log("probe_request_failed", { listingId, cause: describeError(error) });
  });
  ctx.waitUntil(sent);
}

function route(action: "hide" | "restore", summary: string): Route {
  return {
    method: "POST",
    path: `/v1/listings/:id/${action}`,
    face: "api",
    credential: { kind: "operator" },
    summary,
    body: {
      type: "object",
      required: ["reason"],
      additionalProperties: false,
      properties: { reason: { type: "string", minLength: 1, maxLength: 500 } },
    },
    answers: {
      200: {
        type: "object",
        required: ["listingId", "state"],
        properties: { listingId: { type: "string" }, state: { enum: ["listed", "hidden"] } },
      },
    },
    handle: (call) => decide(call, action),
  };
}

export const listingDecisionRoutes: readonly Route[] = [
  route("hide", "Hide a listing"),
  route("restore", "Show a hidden listing again, and have its origin asked"),
];
