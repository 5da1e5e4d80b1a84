// One row of an audit, on a facilitator's side and on a buyer's: the shape of the AgentPay recipe. What one side cannot
// know is null. Never a body, header, key or signature, and who is paid only by hash. Pure.

import { sha256Hex } from "./bytes.ts";

export interface AuditRow {
  event_type: string;
  agent_id: string | null;
  task_id: string | null;
  mcp_tool: string | null;
  resource: string | null;
  network: string | null;
  /** The token's address, or the currency of a wallet. */
  asset: string | null;
  /** Atomic units of the token, or minor units of the currency. */
  max_amount_required: string | null;
  pay_to_hash: string | null;
  policy_version: string | null;
  approval_id: string | null;
  verify_extension_responses: ExtensionResponses | null;
  settle_extension_responses: ExtensionResponses | null;
  settlement_tx: string | null;
  error_reason: string | null;
  /** ISO 8601. */
  created_at: string;
}

/** By extension, what may be kept of its answer. */
export type ExtensionResponses = Record<string, Partial<Record<AllowedField, string>>>;

type AllowedField = "status" | "rejectedReason" | "reason" | "code";
const ALLOWED_FIELDS: readonly AllowedField[] = ["status", "rejectedReason", "reason", "code"];
/** An answer is another party's text: more of it than this is of no use in a row. */
const MAX_EXTENSIONS = 20;
const MAX_FIELD_CHARACTERS = 200;

/** What may be kept of extensions' answers; undefined where they are no object of objects. */
export function allowedOf(responses: unknown): ExtensionResponses | undefined {
  if (!isRecord(responses) || !Object.values(responses).every(isRecord)) return undefined;
  const kept = Object.entries(responses)
    .slice(0, MAX_EXTENSIONS)
    .map(([name, response]) => [name, allowedFieldsOf(response as Record<string, unknown>)] as const);
  return Object.fromEntries(kept);
}

function allowedFieldsOf(response: Record<string, unknown>): Partial<Record<AllowedField, string>> {
  const fields = ALLOWED_FIELDS.flatMap((field) => {
    const value = response[field];
    return typeof value === "string" ? [[field, value.slice(0, MAX_FIELD_CHARACTERS)] as const] : [];
  });
  return Object.fromEntries(fields);
}

/** A URL as rows show it: queries carry search terms, tokens and names of people; before an `@` stand passwords. */
export function auditedResource(url: string): string {
  const bare = url.replace(/[?#].*$/s, "").replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1");
  return bare.slice(0, MAX_RESOURCE_CHARACTERS);
}

/** Longer than anybody's URL. */
const MAX_RESOURCE_CHARACTERS = 2_048;

/** Who is paid, by hash: an EVM address in any case, or a wallet's id. */
export async function payToHash(payTo: string): Promise<string> {
  return `sha256:${await sha256Hex(payTo.startsWith("0x") ? payTo.toLowerCase() : payTo)}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
