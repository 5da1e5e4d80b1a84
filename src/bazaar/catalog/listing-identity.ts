// What makes two observations sightings of the same listing, and what makes their text the same. Pure but for SHA-256.

import { sha256Hex } from "../../platform/bytes.ts";
import type { Observation } from "./observation.ts";

export type ListingIdentity = Pick<Observation, "type" | "resource" | "method" | "toolName">;

/**
 * HTTP: scheme and host, path or route template, method. MCP: resource URL and tool name, case-sensitive. Scheme,
 * trailing slash and method keep listings apart; query, fragment, network and price do not.
 */
export function identityText({ type, resource, method, toolName }: ListingIdentity): string {
  return JSON.stringify([type, resource, type === "http" ? method : toolName]);
}

/** The public id: the same resource has the same id in every catalog. */
export async function listingIdOf(identity: ListingIdentity): Promise<string> {
  return `lst_${(await sha256Hex(identityText(identity))).slice(0, 32)}`;
}

/** What a listing's owner says of it. */
export type OwnersText = Pick<
  Observation,
  "bazaar" | "serviceName" | "tags" | "iconUrl" | "description" | "mimeType"
>;

/**
 * Hash of the text that the listing's owner controls. Not the example URL and the extension keys: they differ from
 * buyer to buyer, and a listing is exactly listed without them.
 */
export async function textHashOf(text: OwnersText): Promise<string> {
  const { bazaar, serviceName, tags, iconUrl, description, mimeType } = text;
  const json = JSON.stringify([bazaar, serviceName, tags, iconUrl, description, mimeType]);
  return (await sha256Hex(json)).slice(0, 32);
}

/** Hash of payment id and listing: the observation's row is written under it. 32 hex digits. */
export async function observationHashOf(paymentId: string, identity: ListingIdentity): Promise<string> {
  return (await sha256Hex(JSON.stringify([paymentId, identityText(identity)]))).slice(0, 32);
}
