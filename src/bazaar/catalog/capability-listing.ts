// What a provider sells through the gateway, as a listing: owned by the provider, with no offer on a chain and its price
// in an extension (CONTRACT.md section 4). An operator registers it, so no payment has to prove anything. Pure.

import { QUERY_METHODS } from "../block/block-rules.ts";
import { readDescription, readServiceName } from "../block/service-metadata.ts";
import type { HostRules } from "./host-rules.ts";
import type { ListingIdentity, OwnersText } from "./listing-identity.ts";
import { readResourceUrl } from "./resource-url.ts";

export const CAPABILITY_EXTENSION = "zanora.dev/x402";

/** As the registry has it. */
export interface SoldThing {
  capabilityId: string;
  providerId: string;
  name: string;
  description: string;
  url: string;
  method: string | null;
  toolName: string | null;
  /** JSON Schema of the input, if the provider gave one. */
  inputSchema: object | null;
  amountMinor: string;
  currency: string;
  challengeUrl: string;
}

export interface CapabilityListing extends ListingIdentity, OwnersText {
  host: string;
  /** Stands where the payTo of a chain's offer does. */
  owner: string;
  extensions: Record<string, unknown>;
}

/** The listing, or why its URL cannot be listed: it is sold all the same. */
export function capabilityListing(
  thing: SoldThing,
  rules: HostRules,
): { ok: true; listing: CapabilityListing } | { ok: false; reason: string } {
  const reading = readResourceUrl(thing.url, rules);
  if (!reading.ok) return reading;
  const { resource } = reading;
  const isTool = thing.toolName !== null || resource.kind === "mcp url";
  const method = isTool ? null : (thing.method ?? "GET");
  const { capabilityId, amountMinor, currency, challengeUrl } = thing;
  return {
    ok: true,
    listing: {
      type: isTool ? "mcp" : "http",
      resource: resource.kind === "http" ? resource.origin + resource.path : resource.text,
      host: resource.kind === "http" ? resource.host : "",
      method,
      toolName: thing.toolName,
      owner: thing.providerId,
      bazaar: method === null ? toolBlock(thing) : httpBlock(method, thing.inputSchema),
      serviceName: readServiceName(thing.name),
      tags: [],
      iconUrl: null,
      description: readDescription(thing.description) ?? readDescription(thing.name),
      mimeType: null,
      extensions: { [CAPABILITY_EXTENSION]: { capabilityId, amountMinor, currency, challengeUrl } },
    },
  };
}

/** Written as sellers write theirs, so that search and buyers read the input in the same place. */
function toolBlock({ toolName, name, inputSchema }: SoldThing): Record<string, unknown> {
  const input = { type: "mcp", toolName: toolName ?? name, inputSchema: inputSchema ?? { type: "object" } };
  return { info: { input }, schema: inputObject({ type: { const: "mcp" }, toolName: { type: "string" } }) };
}

function httpBlock(method: string, inputSchema: object | null): Record<string, unknown> {
  const shape = inputSchema ?? { type: "object" };
  const names = { type: { const: "http" }, method: { const: method } };
  if ((QUERY_METHODS as readonly string[]).includes(method)) {
    return {
      info: { input: { type: "http", method } },
      schema: inputObject({ ...names, queryParams: shape }),
    };
  }
  const input = { type: "http", method, bodyType: "json", body: {} };
  return { info: { input }, schema: inputObject({ ...names, bodyType: { const: "json" }, body: shape }) };
}

function inputObject(properties: Record<string, unknown>): Record<string, unknown> {
  return { type: "object", properties: { input: { type: "object", properties } } };
}
