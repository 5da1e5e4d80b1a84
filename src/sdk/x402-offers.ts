// What a 402 asks for, and which of its offers a buyer would take. Everything in it is the seller's word; a price is
// counted in bigint by the token table alone, and a token that is not in it is never bought.

import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { priceInUsdMicros } from "../payments/dollar-price.ts";
import { decodeJson } from "../platform/base64-json.ts";

/** An offer that the buyer can sign, with its price. */
export interface Offer {
  requirements: PaymentRequirements;
  /** Millionths of a dollar. */
  usdMicros: bigint;
}

export interface Taste {
  /** Which scheme on which network the buyer can sign. */
  canSign(requirements: PaymentRequirements): boolean;
  /** CAIP-2; earlier ones first, all others after them. */
  preferredNetworks: readonly string[];
}

/** What header `PAYMENT-REQUIRED` of a 402 says; undefined when there is none that can be read. */
export function readPaymentRequired(header: string | null): PaymentRequired | undefined {
  const value =
    header === null ? undefined : (decodeJson(header) as Partial<PaymentRequired> | null | undefined);
  if (typeof value !== "object" || value === null || !Array.isArray(value.accepts)) return undefined;
  return value as PaymentRequired;
}

export type Choice = { ok: true; offer: Offer } | { ok: false; reason: "nothing_to_sign" | "unknown_token" };

/** The preferred network's cheapest offer, else the cheapest of all. */
export function chooseOffer(required: PaymentRequired, taste: Taste): Choice {
  const signable = required.accepts.filter(
    (requirements) => isWhole(requirements) && taste.canSign(requirements),
  );
  if (signable.length === 0) return { ok: false, reason: "nothing_to_sign" };
  const priced = signable.flatMap((requirements) => {
    const { network, asset, amount } = requirements;
    const usdMicros = priceInUsdMicros(NONE, network, asset, BigInt(amount));
    return usdMicros === null ? [] : [{ requirements, usdMicros: BigInt(usdMicros) }];
  });
  const rank = ({ requirements }: Offer) => {
    const place = taste.preferredNetworks.indexOf(requirements.network);
    return place === -1 ? taste.preferredNetworks.length : place;
  };
  const [best] = priced.toSorted(
    (left, right) => rank(left) - rank(right) || Number(left.usdMicros - right.usdMicros),
  );
  return best ? { ok: true, offer: best } : { ok: false, reason: "unknown_token" };
}

/** A buyer serves no networks of its own: the table's descriptions are all there is. */
const NONE: ReadonlyMap<string, { tokens: [] }> = new Map();

/** The members that a price is computed from and a signature is over. */
function isWhole(offer: Partial<PaymentRequirements> | null): boolean {
  const { scheme, network, asset, amount, payTo, maxTimeoutSeconds } = offer ?? {};
  const texts = [scheme, network, asset, amount, payTo];
  if (!texts.every((text) => typeof text === "string") || !AMOUNT.test(amount ?? "")) return false;
  return Number.isInteger(maxTimeoutSeconds) && isShort(maxTimeoutSeconds as number);
}

const AMOUNT = /^(0|[1-9][0-9]{0,77})$/;

/** A signature can be used as long as the seller asks for; a day is longer than any settlement takes. */
const MAX_TIMEOUT_SECONDS = 86_400;

function isShort(seconds: number): boolean {
  return seconds > 0 && seconds <= MAX_TIMEOUT_SECONDS;
}
