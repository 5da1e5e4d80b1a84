// What an origin's answer means for a listing: which offers it confirms or denies, who owns the text, which text, and
// how healthy the listing is. Pure; the prober writes what this decides.

import { readBazaarBlock } from "../block/extension.ts";
import { readServiceMetadata, type ServiceMetadata } from "../block/service-metadata.ts";
import type { HostRules } from "../catalog/host-rules.ts";
import { identityText, type ListingIdentity } from "../catalog/listing-identity.ts";
import type { Observation } from "../catalog/observation.ts";
import type { OriginAnswer } from "./ask-origin.ts";
import { type CatalogOffer, type ComparedOffers, compareOffers } from "./compare-offers.ts";
import { afterProbe, type ListingHealth, type ProbeFinding } from "./listing-health.ts";
import type { OriginStatement } from "./payment-required.ts";

export interface ProbedListing extends ListingIdentity, ListingHealth {
  ownerPayTo: string;
}

export interface ProbeVerdict<Known extends CatalogOffer> {
  finding: ProbeFinding;
  health: ListingHealth;
  offers: ComparedOffers<Known>;
  /** Set when the origin named offers: who owns the text from now on, on the origin's word. */
  ownerPayTo?: string;
  /** The origin's own text: whole where its block is this listing's, else only how it describes itself. */
  text?: { kind: "whole"; observation: Observation } | { kind: "metadata"; metadata: ServiceMetadata };
}

/** @param offers - those that their payTo has not withdrawn. */
export function judgeProbe<Known extends CatalogOffer>(
  listing: ProbedListing,
  offers: readonly Known[],
  answer: OriginAnswer,
  { rules, nowMs }: { rules: HostRules; nowMs: number },
): ProbeVerdict<Known> {
  const statement = answer.kind === "statement" ? answer.statement : undefined;
  const compared = statement ? compareOffers(offers, statement.offers) : { named: [], denied: [] };
  const finding = findingOf(answer, compared);
  const verdict = {
    finding,
    health: afterProbe(listing, finding, nowMs),
    // A 402 without one offer that could be paid denies nothing: it is broken, and counts as a miss.
    offers: finding === "missed" ? { named: [], denied: [] } : compared,
  };
  const [first] = compared.named;
  if (!statement || !first) return verdict;
  const isOwnerNamed = compared.named.some(({ offer }) => offer.payTo === listing.ownerPayTo);
  const text = readOriginText(listing, statement, rules);
  return {
    ...verdict,
    ownerPayTo: isOwnerNamed ? listing.ownerPayTo : first.offer.payTo,
    ...(text && { text }),
  };
}

function findingOf(answer: OriginAnswer, compared: ComparedOffers<CatalogOffer>): ProbeFinding {
  if (answer.kind === "refused") return "unprobeable";
  if (answer.kind !== "statement" || answer.statement.offers.length === 0) return "missed";
  return compared.named.length > 0 ? "named" : "denied";
}

/** What the origin does not say is not said: a buyer's additions to its text end here. */
function readOriginText(
  listing: ListingIdentity,
  statement: OriginStatement,
  rules: HostRules,
): ProbeVerdict<CatalogOffer>["text"] {
  const reading = readBazaarBlock(statement, statement.offers[0]?.requirements, rules);
  if (reading.kind === "accepted" && identityText(reading.observation) === identityText(listing)) {
    return { kind: "whole", observation: reading.observation };
  }
  return statement.resource && { kind: "metadata", metadata: readServiceMetadata(statement.resource) };
}
