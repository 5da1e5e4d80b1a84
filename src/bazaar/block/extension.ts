// A payment's bazaar block, checked: absent, rejected with a reason that names the field, or an observation that the
// cataloger can list once the payment is settled. Pure; a verify computes it, stores nothing, and its verdict about the
// payment never depends on it.

import type { HostRules } from "../catalog/host-rules.ts";
import { MAX_OBSERVATION_BYTES, type Observation } from "../catalog/observation.ts";
import { readOffer } from "../catalog/offer.ts";
import { type HttpResource, type McpUrlResource, readResourceUrl } from "../catalog/resource-url.ts";
import { measureBlock } from "./block-limits.ts";
import { checkBlockRules, type DeclaredInput, isRecord, type RuleCheck } from "./block-rules.ts";
import { readRouteTemplate } from "./route-template.ts";
import { findSchemaProblem } from "./schema-check.ts";
import { cutOnCodePoint, readDescription, readServiceMetadata } from "./service-metadata.ts";

export type BlockReading =
  | { kind: "absent" }
  | { kind: "rejected"; reason: string }
  | { kind: "accepted"; observation: Observation };

/** The parts of a payment payload that are read here; everything in them is the buyer's word. */
export interface PayloadWithBlock {
  x402Version: number;
  resource?: unknown;
  accepted?: unknown;
  extensions?: unknown;
}

/** EXTENSION-RESPONSES carries at most this much of a reason. */
export const MAX_REASON_CHARACTERS = 200;
const MAX_EXTENSION_KEYS = 20;

/**
 * Reads `extensions.bazaar` of a payment (Bazaar specification; CONTRACT.md section 3). In order: limits, the
 * specification's own rules, the sender's schema, the resource URL, the offer. Never throws on any JSON.
 */
export function readBazaarBlock(
  payload: PayloadWithBlock,
  requirements: unknown,
  rules: HostRules,
): BlockReading {
  const block = isRecord(payload.extensions) ? payload.extensions.bazaar : undefined;
  if (block === undefined || block === null) return { kind: "absent" };
  if (!isRecord(block)) return rejected("extensions.bazaar must be an object");

  const rule = checkBlock(block);
  if (!rule.ok) return rejected(rule.reason);

  const resource = readResourceUrl(isRecord(payload.resource) ? payload.resource.url : undefined, rules);
  if (!resource.ok) return rejected(resource.reason);
  if (rule.input.kind === "http" && resource.resource.kind !== "http") {
    return rejected("resource.url must be an http or https URL for info.input.type http");
  }
  const offer = readOffer(requirements, payload.accepted);
  if (!offer.ok) return rejected(offer.reason);

  const metadata = readServiceMetadata(payload.resource);
  const observation: Observation = {
    version: 1,
    ...namesOf(rule.input, resource.resource, block.routeTemplate),
    x402Version: payload.x402Version,
    ...metadata,
    // A tool often describes itself in its input only.
    description:
      metadata.description ?? (rule.input.kind === "mcp" ? readDescription(rule.input.description) : null),
    bazaar: withoutValues(block),
    extensionKeys: otherKeys(payload.extensions),
    offer: offer.offer,
    paidAtomic: offer.paidAtomic,
  };
  const bytes = new TextEncoder().encode(JSON.stringify(observation)).byteLength;
  if (bytes > MAX_OBSERVATION_BYTES) return rejected("extensions.bazaar and resource are too large together");
  return { kind: "accepted", observation };
}

/** Limits, rules and schema: all that depends on the block alone. */
function checkBlock(block: Record<string, unknown>): RuleCheck {
  const measured = measureBlock(block);
  if (!measured.ok) return { ok: false, reason: `extensions.bazaar ${measured.problem}` };
  const known = remembered.get(measured.text);
  if (known) return known;
  const rule = checkBlockRules(block);
  const problem = rule.ok ? findSchemaProblem(block.info, block.schema) : undefined;
  const check: RuleCheck = problem === undefined ? rule : { ok: false, reason: problem };
  remember(measured.text, check);
  return check;
}

/**
 * A seller sends the same block with every payment, and interpreting its schema costs more than the rest of a verify.
 * The answer depends on nothing but the text. The oldest leave first, so that strangers' blocks cannot grow the isolate.
 */
const remembered = new Map<string, RuleCheck>();
let rememberedCharacters = 0;
/** Some megabytes: thousands of usual blocks. */
const MAX_REMEMBERED_CHARACTERS = 2_000_000;

function remember(text: string, check: RuleCheck): void {
  remembered.set(text, check);
  rememberedCharacters += text.length;
  for (const oldest of remembered.keys()) {
    if (rememberedCharacters <= MAX_REMEMBERED_CHARACTERS) return;
    remembered.delete(oldest);
    rememberedCharacters -= oldest.length;
  }
}

type Names = Pick<
  Observation,
  "type" | "resource" | "host" | "method" | "toolName" | "routeTemplate" | "exampleUrl"
>;

function namesOf(input: DeclaredInput, url: HttpResource | McpUrlResource, template: unknown): Names {
  const isHttp = url.kind === "http";
  const host = isHttp ? url.host : "";
  const concrete = isHttp ? url.origin + url.path : url.text;
  if (input.kind === "mcp" || !isHttp) {
    const toolName = input.kind === "mcp" ? input.toolName : null;
    return {
      type: "mcp",
      resource: concrete,
      host,
      method: null,
      toolName,
      routeTemplate: null,
      exampleUrl: null,
    };
  }
  const routeTemplate = readRouteTemplate(template, url.path) ?? null;
  return {
    type: "http",
    resource: routeTemplate === null ? concrete : url.origin + routeTemplate,
    host,
    method: input.method,
    toolName: null,
    routeTemplate,
    exampleUrl: routeTemplate === null ? null : concrete,
  };
}

/** The block as stored: as sent, but what one buyer put into headers and path is nobody else's business. */
function withoutValues(block: Record<string, unknown>): Record<string, unknown> {
  const info = block.info as Record<string, unknown>;
  const input = info.input as Record<string, unknown>;
  const emptied = Object.fromEntries(
    ["headers", "pathParams"].filter((field) => Object.hasOwn(input, field)).map((field) => [field, {}]),
  );
  return { ...block, info: { ...info, input: { ...input, ...emptied } } };
}

/** Keys of the other extensions; their values may be permits and signed approvals and are not kept. */
function otherKeys(extensions: unknown): string[] {
  return Object.keys(extensions as object)
    .filter((key) => key !== "bazaar" && /^[\x21-\x7e]{1,64}$/.test(key))
    .slice(0, MAX_EXTENSION_KEYS);
}

function rejected(reason: string): BlockReading {
  const plain = reason.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}]/gu, "");
  return { kind: "rejected", reason: cutOnCodePoint(plain, MAX_REASON_CHARACTERS) };
}
