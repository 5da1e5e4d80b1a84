// Builders for the bazaar's tests: `aBlock`, `aPayload`, `anObservation`, `aMessage`. What is not named has a sensible
// default; every field can be wrong. Pure, so it runs in Node and in workerd.

import { readBazaarBlock } from "../../src/bazaar/block/extension.ts";
import type { HostRules } from "../../src/bazaar/catalog/host-rules.ts";
import type { CatalogMessage, Observation } from "../../src/bazaar/catalog/observation.ts";

export const PUBLIC_RULES: HostRules = { ownHosts: ["souk.test"], allowLoopback: false };

export const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
export const SELLER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const ATTACKER = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";
export const BUYER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

export type Json = Record<string, unknown>;

export function someRequirements(changes: Json = {}): Json {
  return {
    scheme: "exact",
    network: "eip155:84532",
    amount: "10000",
    asset: USDC,
    payTo: SELLER,
    maxTimeoutSeconds: 60,
    extra: { name: "USDC", version: "2" },
    ...changes,
  };
}

/** The base fixture of the field cases: a GET with a query, and a schema that fits it. */
export function aBlock(input: Json = {}, changes: Json = {}): Json {
  return {
    info: { input: { type: "http", method: "GET", queryParams: { city: "Oslo" }, ...input } },
    schema: {
      type: "object",
      required: ["input"],
      properties: { input: { type: "object", required: ["type"] } },
    },
    ...changes,
  };
}

export function aBodyBlock(method = "POST", input: Json = {}): Json {
  return aBlock({ method, queryParams: undefined, bodyType: "json", body: { city: "Oslo" }, ...input });
}

export function aToolBlock(input: Json = {}): Json {
  return aBlock({
    type: "mcp",
    method: undefined,
    queryParams: undefined,
    toolName: "get_weather",
    inputSchema: { type: "object", properties: { city: { type: "string" } } },
    ...input,
  });
}

export interface PayloadOptions {
  url?: unknown;
  /** Further fields of `resource`. */
  resource?: Json;
  block?: unknown;
  extensions?: Json;
  requirements?: Json;
  accepted?: Json;
}

/** Arguments of `readBazaarBlock`, as they come out of a request's JSON. */
export function aPayload(
  options: PayloadOptions = {},
): [payload: { x402Version: number } & Json, requirements: Json] {
  const requirements = options.requirements ?? someRequirements();
  const url = "url" in options ? options.url : "https://api.shop.test/weather";
  const block = "block" in options ? options.block : aBlock();
  const payload = {
    x402Version: 2,
    resource: { url, ...options.resource },
    accepted: options.accepted ?? requirements,
    extensions: { bazaar: block, ...options.extensions },
  };
  return JSON.parse(JSON.stringify([payload, requirements]));
}

export function read(options: PayloadOptions = {}, rules: HostRules = PUBLIC_RULES) {
  return readBazaarBlock(...aPayload(options), rules);
}

/** The observation of a payment that must be accepted. */
export function anObservation(options: PayloadOptions = {}, rules: HostRules = PUBLIC_RULES): Observation {
  const reading = read(options, rules);
  if (reading.kind !== "accepted") throw new Error(`not accepted: ${JSON.stringify(reading)}`);
  return reading.observation;
}

export interface MessageOptions extends PayloadOptions {
  settlementId?: string;
  settledAtMs?: number;
  payer?: string;
}

let settlements = 0;

/** What the settlement object sends; every call is another settlement unless it is named. */
export function aMessage(options: MessageOptions = {}, rules: HostRules = PUBLIC_RULES): CatalogMessage {
  const requirements = options.requirements ?? someRequirements();
  return {
    settlementId: options.settlementId ?? (++settlements).toString(16).padStart(32, "0"),
    settledAtMs: options.settledAtMs ?? Date.now(),
    payer: options.payer ?? BUYER,
    payTo: String(requirements.payTo),
    observation: anObservation(options, rules),
  };
}

/** A block whose output fits or misfits `schema`, so that a test can say anything in either. */
export function withOutput(schema: unknown, output: unknown, root: Json = {}): Json {
  const block = aBlock() as { info: Json; schema: Json & { properties: Json } };
  return {
    info: { ...block.info, output },
    schema: { ...block.schema, ...root, properties: { ...block.schema.properties, output: schema } },
  };
}

/** Why a block is rejected, or what else became of it. */
export function reasonOf(block: unknown): string {
  const reading = read({ block });
  return reading.kind === "rejected" ? reading.reason : reading.kind;
}
