// The receipt: the gateway's signed word on how a paid call ended. Its fields are fixed by the decision
// (paid-call-object.ts); this file only arranges and signs them.

import { type SigningKey, signatureOver } from "./signing-keys.ts";
import type { Receipt, ReceiptFields } from "./wire.ts";

/** Signs a receipt. The same fields and key always give the same receipt. */
export async function signReceipt(fields: ReceiptFields, key: SigningKey): Promise<Receipt> {
  return { ...fields, signingKeyId: key.id, signature: await signatureOver(key, fields) };
}

/** One paid call has one receipt, so its id follows from the call's. */
export function receiptIdOf(transactionId: string): string {
  return transactionId.replace(/^txn_/, "rcp_");
}

/** A provider's words on a failure: 200 characters, without control characters. For owner and provider only. */
export function cleanErrorText(error: string): string {
  const printable = error.replaceAll(/\p{Cc}+/gu, " ").trim();
  return [...printable].slice(0, MAX_ERROR_CHARACTERS).join("");
}

const MAX_ERROR_CHARACTERS = 200;
