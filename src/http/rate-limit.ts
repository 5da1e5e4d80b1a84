// The brakes on verify and settle, and on the sellers' preflight. Permissive and per location by nature: they blunt
// floods, they guard no money. The limits themselves stand in wrangler.toml.

import { describeError, log } from "../platform/log.ts";
import type { Call } from "./call.ts";

/** Whether this key, or this payer under this key's tenant, asks too often. */
export async function isOverLimit(call: Call, tenant: string, payer: string): Promise<boolean> {
  const { caller, env } = call;
  const checks = [env.PAYMENT_LIMIT.limit({ key: `${tenant} ${payer.toLowerCase()}` })];
  // With AUTH=open there is one tenant and no key; the operator is not braked.
  if (caller.kind === "tenant" && caller.keyId !== "")
    checks.push(env.KEY_LIMIT.limit({ key: caller.keyId }));
  return isAnyOver(checks, call.requestId);
}

/** Whether one of the limits that were asked says no. A broken binding brakes nobody. */
export async function isAnyOver(checks: Promise<RateLimitOutcome>[], requestId: string): Promise<boolean> {
  try {
    return (await Promise.all(checks)).some(({ success }) => !success);
  } catch (error) {
    log("rate_limit_failed", { requestId, cause: describeError(error) });
    return false;
  }
}
