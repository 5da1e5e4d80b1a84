// GET /v1/audit: how settlements and paid calls ended, to whom they belong. A row has the shape of the AgentPay recipe's
// audit rows; what a facilitator cannot know is null. Never a body, header, key or signature; payTo only hashed.

import { type AuditRow, payToHash } from "../platform/audit-row.ts";
import { failureAnswer, invalidRequest, json } from "./answers.ts";
import {
  type AuditEntry,
  type AuditKind,
  type AuditOwner,
  type AuditPlace,
  readAudit,
  type StoredPaidCall,
  type StoredSettlement,
} from "./audit-store.ts";
import { type Call, type Route, tenantOf } from "./call.ts";
import type { JsonSchema } from "./json-schema.ts";

const DEFAULT_ROWS = 20;
const MAX_ROWS = 100;

/** A facilitator's row, with what tells it from all others. */
interface StoredRow extends AuditRow {
  id: string;
  kind: AuditKind;
}

async function audit(call: Call): Promise<Response> {
  const {
    limit = DEFAULT_ROWS,
    cursor,
    kind,
  } = call.query as {
    limit?: number;
    cursor?: string;
    kind?: AuditKind;
  };
  const [since, until] = [timeOf(call.query.since), timeOf(call.query.until)];
  if (Number.isNaN(since)) return failureAnswer("api", invalidRequest("since", NO_TIME));
  if (Number.isNaN(until)) return failureAnswer("api", invalidRequest("until", NO_TIME));
  const pageSize = Math.min(limit, MAX_ROWS);
  const entries = await readAudit(call.env.DB, {
    owner: ownerOf(call),
    kind: kind ?? null,
    sinceMs: since,
    untilMs: until,
    after: cursor === undefined ? null : placeOf(cursor),
    limit: pageSize + 1,
  });
  const shown = entries.slice(0, pageSize);
  const last = shown.at(-1);
  return json({
    rows: await Promise.all(shown.map(wordEntry)),
    cursor: entries.length > pageSize && last ? `${last.atMs}.${last.id}` : null,
  });
}

function ownerOf(call: Call): AuditOwner {
  const { caller } = call;
  if (caller.kind === "operator") return { kind: "all" };
  if (caller.kind === "tenant" && caller.walletId !== null) {
    return { kind: "wallet", walletId: caller.walletId };
  }
  return { kind: "tenant", tenant: tenantOf(call) };
}

const NO_TIME = "must be a time such as 2026-04-30T05:14:00Z, or milliseconds since 1970";

/** Milliseconds; null when none is given, NaN when it cannot be read. */
function timeOf(value: string | number | undefined): number | null {
  if (value === undefined) return null;
  const text = String(value);
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
}

/** Of a cursor that the schema let through. */
function placeOf(cursor: string): AuditPlace {
  const [atMs = "", id = ""] = cursor.split(".");
  return { atMs: Number(atMs), id };
}

function wordEntry(entry: AuditEntry): StoredRow | Promise<StoredRow> {
  return entry.kind === "settlement" ? wordSettlement(entry.settlement) : wordPaidCall(entry.paidCall);
}

function wordSettlement(row: StoredSettlement): StoredRow {
  const what = row.toolName === null ? "x402_payment" : "x402_paid_mcp_tool";
  return {
    id: row.settlementId,
    kind: "settlement",
    event_type: `${what}_${row.state}`,
    agent_id: null,
    task_id: null,
    mcp_tool: row.toolName,
    resource: row.resource,
    network: row.network,
    asset: row.asset,
    max_amount_required: row.amount,
    pay_to_hash: row.payToHash,
    policy_version: null,
    approval_id: null,
    // Whether this payment was verified here before is known nowhere: a verify stores nothing.
    verify_extension_responses: null,
    settle_extension_responses: row.extensionResponses === null ? null : JSON.parse(row.extensionResponses),
    settlement_tx: row.transactionHash,
    error_reason: row.errorReason,
    created_at: new Date(row.endedAtMs).toISOString(),
  };
}

async function wordPaidCall({ call, payTo, resource, toolName }: StoredPaidCall): Promise<StoredRow> {
  const what = toolName === null ? "gateway_paid_call" : "gateway_paid_mcp_tool";
  const ending = call.failureKind === "timeout" ? "timed_out" : call.status;
  return {
    id: call.transactionId,
    kind: "paid_call",
    event_type: `${what}_${ending}`,
    agent_id: call.agentId,
    task_id: null,
    mcp_tool: toolName,
    resource,
    network: null,
    asset: call.currency,
    max_amount_required: call.amountMinor,
    pay_to_hash: payTo === null ? null : await payToHash(payTo),
    policy_version: call.policyVersion === null ? null : String(call.policyVersion),
    approval_id: call.approvalId,
    verify_extension_responses: null,
    settle_extension_responses: null,
    settlement_tx: null,
    error_reason: call.failureKind,
    created_at: new Date(call.decidedAtMs).toISOString(),
  };
}

const text: JsonSchema = { type: "string" };
const maybe: JsonSchema = { type: ["string", "null"] };

export const auditRoute: Route = {
  method: "GET",
  path: "/v1/audit",
  face: "api",
  credential: { kind: "key", scope: "audit:read", openable: true, orOwner: true },
  summary: "How one's own settlements and paid calls ended, newest first",
  query: {
    type: "object",
    properties: {
      since: { type: "string", description: "From this time on" },
      until: { type: "string", description: "Before this time" },
      kind: { enum: ["settlement", "paid_call"] },
      limit: { type: "integer", minimum: 1 },
      cursor: { type: "string", pattern: "^[0-9]{1,15}\\.[A-Za-z0-9_]{1,64}$" },
    },
  },
  answers: {
    200: {
      type: "object",
      required: ["rows", "cursor"],
      properties: {
        rows: {
          type: "array",
          items: {
            type: "object",
            required: ["id", "kind", "event_type", "created_at"],
            properties: {
              id: text,
              kind: { enum: ["settlement", "paid_call"] },
              event_type: text,
              agent_id: maybe,
              task_id: maybe,
              mcp_tool: maybe,
              resource: maybe,
              network: maybe,
              asset: text,
              max_amount_required: text,
              pay_to_hash: maybe,
              policy_version: maybe,
              approval_id: maybe,
              verify_extension_responses: { type: ["object", "null"] },
              settle_extension_responses: { type: ["object", "null"] },
              settlement_tx: maybe,
              error_reason: maybe,
              created_at: text,
            },
          },
        },
        cursor: maybe,
      },
    },
  },
  handle: audit,
};
