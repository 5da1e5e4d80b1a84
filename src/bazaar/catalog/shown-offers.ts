// Which offers and payTos of a listing readers see, as SQL that every reader and writer of the catalog shares: a rule
// written twice is two rules.

/**
 * Over `offers` as `o` and `listings` as `l`: confirmed by the origin or the owner's, and neither denied by the
 * origin's newest 402 nor withdrawn by its payTo.
 */
export const SHOWN_OFFER =
  "(o.confirmed = 1 OR o.pay_to = l.owner_pay_to) AND o.denied_at_ms IS NULL AND o.withdrawn_at_ms IS NULL";

/** Over `calls` as `c` and `listings` as `l`: the call paid somebody whose offer is shown. */
export const SHOWN_CALL = `EXISTS (SELECT 1 FROM offers AS o
    WHERE o.listing_id = l.id AND o.pay_to = c.pay_to AND ${SHOWN_OFFER})`;

/** In `listing_texts`, the row with what the origin's own 402 says instead of a payTo's word. */
export const ORIGIN_TEXT = "origin";
