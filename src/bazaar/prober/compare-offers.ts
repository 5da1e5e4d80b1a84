// Which of a listing's offers its origin's 402 names. Pure: the prober writes what this decides. The origin's word
// outranks a payment's, so a named offer takes the origin's amount.

import type { Offer } from "../catalog/offer.ts";

/** What a payment left in the catalog. */
export type CatalogOffer = Omit<Offer, "requirements">;

export interface ComparedOffers<Known extends CatalogOffer> {
  /** In the origin's order. */
  named: { offer: Known; origin: Offer }[];
  denied: Known[];
}

/** Compares by (scheme, network, asset, payTo), and by the transfer method where both sides declare one. */
export function compareOffers<Known extends CatalogOffer>(
  known: readonly Known[],
  origin: readonly Offer[],
): ComparedOffers<Known> {
  const compared: ComparedOffers<Known> = { named: [], denied: [] };
  for (const offer of known) {
    const same = origin.filter((candidate) => isSame(offer, candidate));
    const sameMethod = same.filter(({ method }) => method === offer.method);
    const best = sameMethod.length > 0 ? sameMethod : same;
    // An origin may price one way to pay twice; the price that was paid is then still right.
    const match = best.find(({ amount }) => amount === offer.amount) ?? best[0];
    if (match) compared.named.push({ offer, origin: match });
    else compared.denied.push(offer);
  }
  compared.named.sort((a, b) => origin.indexOf(a.origin) - origin.indexOf(b.origin));
  return compared;
}

function isSame(offer: CatalogOffer, candidate: Offer): boolean {
  return (
    offer.scheme === candidate.scheme &&
    offer.network === candidate.network &&
    offer.asset === candidate.asset &&
    offer.payTo === candidate.payTo &&
    (offer.method === candidate.method || offer.method === "" || candidate.method === "")
  );
}
