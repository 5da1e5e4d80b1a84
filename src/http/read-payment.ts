// What verify and settle do first with a call, in this order: may this facilitator serve money at all, is the body a
// payment, may it be paid here, does its sender ask too often. What comes out is one decoded payment on one network.

import { isAddressEqual } from "viem/utils";
import type { Network } from "../config.ts";
import { decodePayment } from "../payments/decode-payment.ts";
import type { Payment } from "../payments/payment.ts";
import { type Call, tenantOf } from "./call.ts";
import { moneyProblem, type PaymentFace, type Refusal, refusePayment } from "./payment-answers.ts";
import { isOverLimit } from "./rate-limit.ts";

export type ReadPayment =
  | { ok: true; payment: Payment; network: Network }
  /** The refusal, worded for the face. */
  | { ok: false; response: Response };

export async function readPayment(call: Call, face: PaymentFace): Promise<ReadPayment> {
  const { config, body } = call;
  const refuse = (refusal: Refusal): ReadPayment => ({ ok: false, response: refusePayment(face, refusal) });
  const problem = moneyProblem(config);
  if (problem) return refuse({ reason: "misconfigured", message: problem, network: "" });

  const decoding = decodePayment(body, config.networks);
  if (!decoding.ok) return refuse(decoding);
  const { payment } = decoding;
  const { network: id, payer, payTo } = payment;
  const network = config.networks.get(id);
  if (!network) return refuse({ reason: "invalid_network", network: id, payer });
  if (config.topUpPayTo !== undefined && isAddressEqual(payTo, config.topUpPayTo)) {
    return refuse({
      reason: "invalid_payment_requirements",
      message: "paymentRequirements.payTo is where wallets are topped up: use /v1/wallets/:id/topups",
      network: id,
      payer,
    });
  }
  if (await isOverLimit(call, tenantOf(call), payer)) {
    return refuse({ reason: "rate_limited", network: id, payer });
  }
  return { ok: true, payment, network };
}
