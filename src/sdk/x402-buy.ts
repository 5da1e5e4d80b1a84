// Buys one call of an x402 endpoint, start to finish. Every exit is a named outcome (x402-outcome.ts) and none is an
// exception.
//
//   const bought = await buy("https://shop.test/report", {}, {
//     paymentId: "order-17", maxUsdMicros: 50_000n, claims: fileClaims("./claims", fs),
//     schemes: [{ network: "eip155:8453", scheme: new ExactEvmScheme(account) }],
//   });
//   if (bought.status === "paid") console.log(await bought.response.json(), bought.transaction);
//
// One signature per payment id, claimed before it is made. The cap is an argument of this call.

import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { auditedResource } from "../platform/audit-row.ts";
import type { Claimed, ClaimStore } from "./claims.ts";
import { type BuyerAuditRow, buyerAuditRow, tellAudit } from "./x402-audit.ts";
import { chooseOffer, type Offer, readPaymentRequired } from "./x402-offers.ts";
import type { X402Bought } from "./x402-outcome.ts";
import { discardBody, type PaymentOutcome, pay, type SendCall, type SigningScheme } from "./x402-pay.ts";

export interface BuyOptions {
  /** The buyer's own name for this purchase. It is signed for once, for ever. */
  paymentId: string;
  /** Pay at most this, in millionths of a dollar. */
  maxUsdMicros: bigint;
  claims: ClaimStore;
  schemes: readonly { network: string; scheme: SigningScheme }[];
  /** CAIP-2; earlier ones are taken first. Default: whatever is cheapest. */
  preferredNetworks?: readonly string[];
  /** Price it and stop before the claim and the signature. */
  isDryRun?: boolean;
  fetch?: typeof fetch;
  /** The row of every claimed payment, whatever became of it. */
  audit?: (row: BuyerAuditRow) => unknown;
  agentId?: string;
  /** Whether a catalog lists this URL: for the audit row alone, it decides nothing. */
  isListed?: (url: string) => Promise<boolean>;
}

/**
 * @param init as fetch takes it. Its `signal` bounds the whole purchase; one that fires after the signature makes it
 * fail as `no_answer_after_payment`.
 */
export async function buy(url: string | URL, init: RequestInit, options: BuyOptions): Promise<X402Bought> {
  if (!isRepeatable(init.body)) return { status: "refused", reason: "body_not_repeatable" };
  const address = String(url);
  const send = sender(address, init, options.fetch ?? fetch);
  let first: Response;
  try {
    first = await send();
  } catch (cause) {
    return { status: "failed", reason: "no_answer", cause };
  }
  if (!isRedirect(first) && first.status !== 402) return { status: "free", response: first };
  await discardBody(first);
  if (isRedirect(first)) return { status: "refused", reason: "redirected" };
  const priced = price(first, options);
  if ("status" in priced) return priced;
  const { required, offer, scheme } = priced;
  // So written, a cap that a caller without types forgot is no cap of infinity.
  if (!(offer.usdMicros <= options.maxUsdMicros)) {
    return { status: "refused", reason: "over_cap", cost: offer };
  }
  if (options.isDryRun === true) return { status: "dry-run", cost: offer };

  const { paymentId } = options;
  let isFirstClaim: boolean;
  try {
    isFirstClaim = await options.claims.claim(paymentId, claimed(address, offer));
  } catch {
    return { status: "refused", reason: "claim_not_written", cost: offer };
  }
  if (!isFirstClaim) return { status: "refused", reason: "already_claimed", cost: offer };
  const outcome = await pay(send, scheme, { required, offer, paymentId });
  await tellAudit(options.audit, () => rowOf(address, offer, outcome, options));
  return outcome;
}

function sender(url: string, init: RequestInit, doFetch: typeof fetch): SendCall {
  return (payment) => {
    const headers = new Headers(init.headers);
    if (payment !== undefined) headers.set("PAYMENT-SIGNATURE", payment);
    return doFetch(url, { ...init, headers, redirect: "manual" });
  };
}

/** Streams and generators, which are gone once they were sent, are not. */
function isRepeatable(body: unknown): boolean {
  return typeof body !== "object" || body === null || !("getReader" in body || Symbol.asyncIterator in body);
}

/** Status 0 is how a browser shows a redirect that it did not follow; a fetch of the caller's own may have followed. */
function isRedirect({ status, redirected }: Response): boolean {
  return redirected || status === 0 || (status >= 300 && status < 400 && status !== 304);
}

interface Priced {
  required: PaymentRequired;
  offer: Offer;
  scheme: SigningScheme;
}

function price(response: Response, { schemes, preferredNetworks = [] }: BuyOptions): Priced | X402Bought {
  const required = readPaymentRequired(response.headers.get("PAYMENT-REQUIRED"));
  if (!required) return { status: "refused", reason: "unreadable_price" };
  if (required.x402Version !== 2) return { status: "refused", reason: "other_version" };
  const schemeFor = ({ scheme, network }: PaymentRequirements) =>
    schemes.find((entry) => entry.network === network && entry.scheme.scheme === scheme)?.scheme;
  const canSign = (requirements: PaymentRequirements) => schemeFor(requirements) !== undefined;
  const choice = chooseOffer(required, { canSign, preferredNetworks });
  if (!choice.ok) return { status: "refused", reason: choice.reason };
  return { required, offer: choice.offer, scheme: schemeFor(choice.offer.requirements) as SigningScheme };
}

function claimed(url: string, { requirements }: Offer): Claimed {
  const { network, asset, amount, payTo } = requirements;
  return { resource: auditedResource(url), network, asset, amount, payTo, claimedAtMs: Date.now() };
}

async function rowOf(
  url: string,
  { requirements }: Offer,
  outcome: PaymentOutcome,
  { paymentId, agentId, isListed }: BuyOptions,
): Promise<BuyerAuditRow> {
  const listed =
    isListed === undefined
      ? null
      : await Promise.resolve(url)
          .then(isListed)
          .catch(() => null);
  return buyerAuditRow({
    paymentId,
    agentId: agentId ?? null,
    url,
    requirements,
    transaction: outcome.settlement?.transaction || null,
    errorReason: outcome.status === "paid" ? null : outcome.reason,
    extensionResponses: outcome.response?.headers.get("EXTENSION-RESPONSES") ?? null,
    isListed: listed,
    nowMs: Date.now(),
  });
}
