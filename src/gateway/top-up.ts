// What a top-up's settlement is claimed for, and the credit that follows it. The settlement knows the purpose as a word
// and nothing of wallets; index.ts binds the two.

import { assert } from "../platform/assert.ts";
import type { EntryAnswer, EntryRequest } from "./wallet-port.ts";

const PREFIX = "topup:";

/** The purpose of a settlement that pays into this wallet. */
export function topUpPurpose(walletId: string): string {
  return `${PREFIX}${walletId}`;
}

/** The wallet that a settlement of this purpose pays into; null for any other purpose. */
export function walletOfTopUp(purpose: string): string | null {
  return purpose.startsWith(PREFIX) ? purpose.slice(PREFIX.length) : null;
}

/** A settlement that is final. */
export interface PaidTopUp {
  settlementId: string;
  purpose: string;
  /** What was paid, in millionths of a dollar; null where the token has no price any more. */
  usdMicros: number | null;
  atMs: number;
}

/** Wallets count cents. */
const MICROS_PER_MINOR = 10_000;

/**
 * Credits the wallet once, however often it is called: the entry's id is the settlement's.
 *
 * @throws when the wallet did not answer or the token is in no table: the caller comes again.
 */
export async function creditTopUp(
  wallet: (walletId: string) => { credit(request: EntryRequest): Promise<EntryAnswer> },
  { settlementId, purpose, usdMicros, atMs }: PaidTopUp,
): Promise<void> {
  const walletId = walletOfTopUp(purpose);
  assert(walletId, `settlement ${settlementId} is a top-up`);
  assert(usdMicros !== null && usdMicros % MICROS_PER_MINOR === 0, `top-up ${settlementId} is whole cents`);
  const answer = await wallet(walletId).credit({
    source: "settlement",
    id: settlementId,
    amountMinor: BigInt(usdMicros / MICROS_PER_MINOR),
    reason: "top-up",
    atMs,
  });
  assert(answer.ok, `top-up ${settlementId} is credited as it was before`);
}
