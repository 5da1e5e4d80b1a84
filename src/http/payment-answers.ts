// How verify and settle word what they cannot or will not do, in the verdict shapes that published clients parse.
// Every sentence is ours (payments/reasons.ts); a mechanism's or a provider's text never reaches this file.

import { isAddressEqual } from "viem/utils";
import type { Config } from "../config.ts";
import { type Reason, wordReason } from "../payments/reasons.ts";
import { json } from "./answers.ts";

export type PaymentFace = "verify" | "settle";

export interface Refusal {
  reason: Reason;
  /** Instead of the reason's own sentence: names a field or a variable. */
  message?: string | null;
  network: string;
  payer?: string | null;
}

/** A refusal in the face's shape, with the reason's status; who would have paid is named whenever it is known. */
export function refusePayment(face: PaymentFace, refusal: Refusal): Response {
  const { reason, sentence, status, retryAfterSeconds } = wordReason(refusal.reason);
  const message = refusal.message ?? sentence;
  const common = {
    ...(refusal.payer ? { payer: refusal.payer } : {}),
    ...(retryAfterSeconds === null ? {} : { extra: { retryable: true } }),
  };
  const body =
    face === "verify"
      ? { isValid: false, invalidReason: reason, invalidMessage: message, ...common }
      : {
          success: false,
          errorReason: reason,
          errorMessage: message,
          transaction: "",
          network: refusal.network,
          ...common,
        };
  return json(body, status, retryAfterSeconds === null ? {} : { "retry-after": String(retryAfterSeconds) });
}

/** Variables whose problems decide how, with which keys or over which node money moves. */
const MONEY_VARIABLES = /^(AUTH|NETWORKS|MAC_KEYS|TOPUP_PAY_TO|RELAYER_KEYS_\d+|RPC_URLS_\d+)$/;

/**
 * The configuration problem for which verify and settle must not serve, as `<VARIABLE> <what is wanted>`; null when
 * there is none. A missing binding counts: it is in the list under its own name.
 */
export function moneyProblem(config: Config): string | null {
  const found = config.problems.find(
    ({ variable, problem }) => MONEY_VARIABLES.test(variable) || problem.startsWith("binding is missing"),
  );
  return found ? `${found.variable} ${found.problem}` : null;
}

/**
 * The problem for which no wallet is topped up although an address is set; null when there is none. Apart from
 * `moneyProblem`, because it needs the relayers' addresses, which cost their first reader their derivation.
 */
export function topUpProblem({ topUpPayTo, networks }: Config): string | null {
  if (topUpPayTo === undefined) return null;
  const relayers = [...networks.values()].flatMap((network) => network.relayers());
  const isRelayer = relayers.some((relayer) => isAddressEqual(relayer, topUpPayTo));
  return isRelayer ? "must not be a relayer's account" : null;
}
