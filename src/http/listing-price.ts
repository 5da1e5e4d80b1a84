// Prices as people and agents read them: dollars where the token's worth is known, else the token's own amount. By whole
// numbers throughout. Pure.

import { CAPABILITY_EXTENSION } from "../bazaar/catalog/capability-listing.ts";
import type { ShownListing } from "../bazaar/catalog/catalog-read-store.ts";
import type { Resource, ShownRequirements } from "../bazaar/catalog/resource.ts";
import { describeNetwork, NETWORKS, type NetworkDescription, tokenOf } from "../payments/networks.ts";

export interface PricedOffer {
  requirements: ShownRequirements;
  /** `Base`, or the CAIP-2 id of a network that is described nowhere. */
  networkName: string;
  /** Millionths of a dollar, rounded up; null when nobody can say. */
  usdMicros: number | null;
  /** The amount in its token: `0.01 USDC`, or atomic units of an unknown one. */
  amountText: string;
  /** The most that one call may cost, not what it costs. */
  isCeiling: boolean;
}

type Networks = ReadonlyMap<string, NetworkDescription>;

/** The shown offers of a listing, in their order. `networks`: as configured; others are known by description. */
export function pricedOffers({ resource, offers }: ShownListing, networks: Networks): PricedOffer[] {
  return resource.accepts.map((requirements, i) => ({
    requirements,
    networkName: networkName(requirements.network),
    usdMicros: offers[i]?.usd_micros ?? null,
    amountText: amountText(requirements, networks),
    isCeiling: requirements.scheme === "upto",
  }));
}

/** The offer that costs least in dollars; undefined when none has a price. */
export function cheapest(offers: readonly PricedOffer[]): (PricedOffer & { usdMicros: number }) | undefined {
  const priced = offers.filter(
    (offer): offer is PricedOffer & { usdMicros: number } => offer.usdMicros !== null,
  );
  return priced.toSorted((a, b) => a.usdMicros - b.usdMicros)[0];
}

/** `0.01`, `1.50`, `0.000001`: at least cents, at most millionths. */
export function dollarsText(usdMicros: number): string {
  return decimal(BigInt(usdMicros), 6, 2);
}

export function networkName(id: string): string {
  return (
    describeNetwork(id)?.name ?? (Object.hasOwn(OTHER_NETWORKS, id) ? OTHER_NETWORKS[id] : undefined) ?? id
  );
}

/** The networks that a reader may choose from: CAIP-2 id and name. */
export function namedNetworks(): [id: string, name: string][] {
  return [...NETWORKS.map(({ id, name }): [string, string] => [id, name]), ...Object.entries(OTHER_NETWORKS)];
}

/** Listed and priced, not served. */
const OTHER_NETWORKS: Record<string, string> = {
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": "Solana",
  "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1": "Solana Devnet",
};

function amountText({ network, asset, amount }: ShownRequirements, networks: Networks): string {
  const description = networks.get(network) ?? describeNetwork(network);
  const token = description && tokenOf(description, asset);
  if (!/^\d{1,78}$/.test(amount)) return "unknown amount";
  return token ? `${decimal(BigInt(amount), token.decimals, 0)} ${token.symbol}` : `${amount} atomic units`;
}

/** `value` / 10^`decimals`, exactly, with at least `minDigits` after the point. */
function decimal(value: bigint, decimals: number, minDigits: number): string {
  const digits = value.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, "")
    .padEnd(minDigits, "0");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/** What a capability costs from a custodial balance: it has no offers on a chain (CONTRACT.md section 4). */
export interface CustodialPrice {
  capabilityId: string;
  /** Whole hundredths of the currency. */
  amountMinor: string;
  currency: string;
  challengeUrl: string;
}

export function custodialPrice({ extensions }: Resource): CustodialPrice | undefined {
  const value = extensions?.[CAPABILITY_EXTENSION] as
    | Partial<Record<keyof CustodialPrice, unknown>>
    | undefined;
  const { capabilityId, amountMinor, currency, challengeUrl } = value ?? {};
  if (
    typeof capabilityId !== "string" ||
    typeof amountMinor !== "string" ||
    !/^\d{1,18}$/.test(amountMinor)
  ) {
    return undefined;
  }
  if (typeof currency !== "string" || typeof challengeUrl !== "string") return undefined;
  return { capabilityId, amountMinor, currency, challengeUrl };
}

/** `0.25 USD`. */
export function minorText({ amountMinor, currency }: CustodialPrice): string {
  return `${decimal(BigInt(amountMinor), 2, 2)} ${currency}`;
}
