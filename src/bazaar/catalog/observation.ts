// An observation: one sighting of a valid bazaar block in a payment, as plain JSON. The Worker makes it, the settlement
// object carries it without looking inside, the cataloger reads it again after the queue and trusts nothing.

import { isRecord } from "../block/block-rules.ts";
import type { ServiceMetadata } from "../block/service-metadata.ts";
import { comparableAddress, type Offer } from "./offer.ts";

export interface Observation extends ServiceMetadata {
  version: 1;
  type: "http" | "mcp";
  /** Canonical; with the route template where there is one. */
  resource: string;
  host: string;
  method: string | null;
  toolName: string | null;
  routeTemplate: string | null;
  /** A concrete URL beside a route template. */
  exampleUrl: string | null;
  x402Version: number;
  /** The block as stored. */
  bazaar: Record<string, unknown>;
  /** Keys of the payment's other extensions. */
  extensionKeys: string[];
  offer: Offer;
  /** What the settlement moves, atomic units: upto may charge nothing, and nothing paid lists nothing. */
  paidAtomic: string;
}

/** A queue message is at most 128 KB; this leaves room for the rest of it. */
export const MAX_OBSERVATION_BYTES = 80_000;

/** What the settlement object sends once a payment is settled. Amounts and ids are text, times integer ms. */
export interface CatalogMessage {
  settlementId: string;
  settledAtMs: number;
  payer: string;
  payTo: string;
  observation: Observation;
}

/** A message's parts that name it, read from whatever arrived: enough to record that it could not be stored. */
export interface MessageName {
  settlementId: string;
  observation: Pick<Observation, "type" | "resource" | "method" | "toolName">;
}

/** A catalog message, or the first field that is not as it must be. */
export function readCatalogMessage(
  body: unknown,
): { ok: true; message: CatalogMessage } | { ok: false; field: string } {
  const field = findBadField(body);
  return field === undefined ? { ok: true, message: body as CatalogMessage } : { ok: false, field };
}

/** The names in a message that may be broken otherwise; undefined when not even they can be read. */
export function readMessageName(body: unknown): MessageName | undefined {
  if (!isRecord(body) || !isRecord(body.observation)) return undefined;
  const { settlementId, observation } = body;
  const named = NAME_FIELDS.every(([name, test]) => test(observation[name]));
  return isText(settlementId) && named ? (body as unknown as MessageName) : undefined;
}

type Test = (value: unknown) => boolean;

const isText: Test = (value) => typeof value === "string" && value !== "";
const isTextOrNull: Test = (value) => value === null || typeof value === "string";
const isTime: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isAmount: Test = (value) => typeof value === "string" && /^\d{1,78}$/.test(value);
const isTexts: Test = (value) => Array.isArray(value) && value.every(isText);

const MESSAGE_FIELDS: readonly [string, Test][] = [
  ["settlementId", isText],
  ["settledAtMs", isTime],
  ["payer", isText],
  ["payTo", isText],
  ["observation", isRecord],
];

const NAME_FIELDS: readonly [string, Test][] = [
  ["type", (value) => value === "http" || value === "mcp"],
  ["resource", isText],
  ["method", isTextOrNull],
  ["toolName", isTextOrNull],
];

const OBSERVATION_FIELDS: readonly [string, Test][] = [
  ["version", (value) => value === 1],
  ...NAME_FIELDS,
  ["host", (value) => typeof value === "string"],
  ["routeTemplate", isTextOrNull],
  ["exampleUrl", isTextOrNull],
  ["x402Version", isTime],
  ["serviceName", isTextOrNull],
  ["tags", isTexts],
  ["iconUrl", isTextOrNull],
  ["description", isTextOrNull],
  ["mimeType", isTextOrNull],
  ["bazaar", isRecord],
  ["extensionKeys", isTexts],
  ["offer", isRecord],
  ["paidAtomic", isAmount],
];

const OFFER_FIELDS: readonly [string, Test][] = [
  ["scheme", isText],
  ["method", (value) => typeof value === "string"],
  ["network", isText],
  ["asset", isText],
  ["payTo", isText],
  ["amount", isAmount],
  ["requirements", isRecord],
];

function findBadField(body: unknown): string | undefined {
  if (!isRecord(body)) return "message";
  const inMessage = firstBad(body, MESSAGE_FIELDS);
  if (inMessage !== undefined) return inMessage;
  const observation = body.observation as Record<string, unknown>;
  const inObservation = firstBad(observation, OBSERVATION_FIELDS);
  if (inObservation !== undefined) return `observation.${inObservation}`;
  const offer = observation.offer as Record<string, unknown>;
  const inOffer = firstBad(offer, OFFER_FIELDS);
  if (inOffer !== undefined) return `observation.offer.${inOffer}`;
  return offer.payTo === comparableAddress(String(offer.network), String(body.payTo)) ? undefined : "payTo";
}

function firstBad(record: Record<string, unknown>, fields: readonly [string, Test][]): string | undefined {
  return fields.find(([name, test]) => !test(record[name]))?.[0];
}
