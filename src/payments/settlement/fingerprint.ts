// Are two settle calls the same? Only calls with one fingerprint join, wait for or receive one outcome: another
// price, receiver, signature or tenant is another call, even for the same payment. Pure.

import { sha256Hex } from "../../platform/bytes.ts";
import type { Payment } from "../payment.ts";

/**
 * 64 lower-case hex digits. The payment's signature is normalised already (payment.ts): v is 27 or 28 and the digits
 * are lower case, so two spellings of one signature are the same call.
 *
 * @param paymentId - the payment's id, which covers chain, payer and nonce.
 */
export function fingerprintOf(paymentId: string, payment: Payment, tenant: string): Promise<string> {
  const { scheme, network, asset, payTo, amountAtomic, signature } = payment;
  return sha256Hex(
    JSON.stringify([
      paymentId,
      scheme,
      network,
      asset.toLowerCase(),
      payTo.toLowerCase(),
      amountAtomic.toString(),
      signature.toLowerCase(),
      tenant,
    ]),
  );
}
