// The messages to and from a paid call's object: types only. Every method may be repeated.

import type { PaidCallTerms } from "./paid-call.ts";
import type { HoldRefusal, HoldRefusalCode } from "./wallet-port.ts";
import type { FailureKind, Receipt } from "./wire.ts";

export interface AuthorizeRequest extends PaidCallTerms {
  /** Made by the Worker per HTTP request, the same in its one retry. */
  callId: string;
}

export type AuthorizeAnswer =
  | { ok: true; transactionId: string }
  | HoldRefusal<HoldRefusalCode | "NONCE_REPLAYED">
  /** The wallet did not answer: the same proof may try again. */
  | { ok: false; code: "UNAVAILABLE"; reason: string };

export type DecisionAnswer =
  | { ok: true; receipt: Receipt }
  /** No such call of this provider. */
  | { ok: false; reason: "unknown" }
  | { ok: false; reason: "not_held" }
  /** Decided otherwise before; the receipt says how. */
  | { ok: false; reason: "decided"; receipt: Receipt };

export interface PaidCallPort {
  authorize(request: AuthorizeRequest): Promise<AuthorizeAnswer>;
  /** `responseHash`: 64 hex digits. */
  complete(providerId: string, responseHash: string): Promise<DecisionAnswer>;
  fail(
    providerId: string,
    failureKind: Exclude<FailureKind, "timeout">,
    errorText: string,
  ): Promise<DecisionAnswer>;
}
