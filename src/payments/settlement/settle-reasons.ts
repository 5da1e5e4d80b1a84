// What a settlement's ending is called on the wire: a proved failure, and a relayer that took nothing. Pure.

import type { SubmitAnswer } from "../evm/relayer/relayer-port.ts";
import type { Payment } from "../payment.ts";
import type { Reason } from "../reasons.ts";
import type { Failure } from "./settlement-states.ts";

/** The reason of a settlement that failed by proof; the same for every call that asks. */
export function failureReason({ scheme }: Pick<Payment, "scheme">, failure: Failure): Reason {
  switch (failure) {
    case "reverted":
      return scheme === "upto"
        ? "invalid_upto_evm_transaction_failed"
        : "invalid_exact_evm_transaction_failed";
    case "cancelled":
      return "invalid_exact_evm_nonce_already_used";
    case "expired":
      return "invalid_transaction_state";
  }
}

export type Decline = Extract<SubmitAnswer, { ok: false }>;

/** The reason when the relayer took nothing of a payment that was verified a moment ago. */
export function declineReason({ method }: Pick<Payment, "method">, decline: Decline): Reason {
  switch (decline.reason) {
    case "busy":
      return "relayer_busy";
    case "no_gas":
      return "relayer_no_gas";
    case "would_revert":
      return method === "eip3009"
        ? "invalid_exact_evm_transaction_simulation_failed"
        : "permit2_simulation_failed";
    case "payer_paused":
      return "rate_limited";
    case "cancelled":
    case "rpc_unavailable":
      return "unexpected_settle_error";
  }
}
