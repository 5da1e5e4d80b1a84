// JSON-RPC 2.0 as bytes on the wire: writing a request of one or many calls, reading what came back element by
// element, and telling an executed revert from everything else. Pure; json-rpc.ts sends and retries.

import type { Hex } from "viem";

export interface RpcCall {
  method: string;
  params: readonly unknown[];
}

export type RpcAnswer =
  | { ok: true; result: unknown }
  /** The node answered with an error of its own. Only `isRevert` says whether the chain executed the call. */
  | { ok: false; kind: "error"; code: number; message: string; data: Hex | null }
  /** No answer from the chain: timeout, transport, HTTP error, rate limit, malformed or missing element. */
  | { ok: false; kind: "unanswered" };

export const UNANSWERED: RpcAnswer = { ok: false, kind: "unanswered" };

/** One element as read: answered, over the provider's rate limit, or not there. */
export type ElementReading = RpcAnswer | "rate_limited";

export type ReplyReading =
  | { kind: "elements"; elements: ElementReading[] }
  | { kind: "rate_limited" }
  /** The provider takes no batches, or none of this size. */
  | { kind: "batch_refused" }
  | { kind: "failed" };

/** A single call is a plain object; several are an array. Ids are 1, 2, 3 in order. */
export function writeRequest(calls: readonly RpcCall[]): string {
  const elements = calls.map(({ method, params }, index) => ({
    jsonrpc: "2.0",
    id: index + 1,
    method,
    params,
  }));
  return JSON.stringify(elements.length === 1 ? elements[0] : elements);
}

const RATE_LIMITED_STATUS = 429;
/** How gateways turn batches away: bad request, payment or plan, method, size, media type, not implemented. */
const BATCH_REFUSAL_STATUSES: ReadonlySet<number> = new Set([400, 402, 403, 405, 413, 415, 422, 501]);
/** "Limit exceeded" (EIP-1474); providers use it for their rate limits. */
const RATE_LIMITED_CODE = -32005;

/** Reads the reply to `count` calls. `text` is null when the body could not be read. */
export function readReply(status: number, text: string | null, count: number): ReplyReading {
  if (status === RATE_LIMITED_STATUS) return { kind: "rate_limited" };
  const body = parse(text);
  const isBatch = count > 1;
  if (Array.isArray(body)) return readElements(body, count);
  if (isRecord(body) && isRecord(body.error) && body.error.code === RATE_LIMITED_CODE) {
    return { kind: "rate_limited" };
  }
  if (status < 200 || status > 299) {
    return { kind: isBatch && BATCH_REFUSAL_STATUSES.has(status) ? "batch_refused" : "failed" };
  }
  if (!isRecord(body)) return { kind: "failed" };
  return isBatch ? { kind: "batch_refused" } : readElements([body], 1);
}

/** Answers are matched by id: a server may order them as it likes, and may leave some out. */
function readElements(body: unknown[], count: number): ReplyReading {
  const elements: ElementReading[] = Array.from({ length: count }, () => UNANSWERED);
  for (const element of body) {
    if (!isRecord(element) || typeof element.id !== "number") continue;
    if (!Number.isInteger(element.id) || element.id < 1 || element.id > count) continue;
    elements[element.id - 1] = readElement(element);
  }
  return { kind: "elements", elements };
}

function readElement(element: Record<string, unknown>): ElementReading {
  const { error } = element;
  if (error === undefined || error === null) {
    return "result" in element ? { ok: true, result: element.result } : UNANSWERED;
  }
  if (!isRecord(error) || typeof error.code !== "number") return UNANSWERED;
  if (error.code === RATE_LIMITED_CODE || error.code === RATE_LIMITED_STATUS) return "rate_limited";
  return {
    ok: false,
    kind: "error",
    code: error.code,
    message: typeof error.message === "string" ? error.message : "",
    data: revertDataOf(error.data),
  };
}

/** Nodes put revert data into `data` itself or into `data.data`. */
function revertDataOf(data: unknown): Hex | null {
  const candidate = isRecord(data) ? data.data : data;
  return typeof candidate === "string" && /^0x([0-9a-fA-F]{2})*$/.test(candidate) ? (candidate as Hex) : null;
}

/** Geth's code for a revert with data; the others are servers' catch-alls and need a second sign. */
const REVERT_CODE = 3;
const SERVER_ERROR_CODES: ReadonlySet<number> = new Set([-32000, -32015, -32603]);
/** Words of geth, reth, erigon, nethermind and anvil for an execution that ended without success. */
const EXECUTION_ENDED =
  /execution reverted|vm execution error|evm error|invalid opcode|out of gas|invalid jump|stack (under|over)flow|^revert/i;

/**
 * Whether the chain executed the call and the execution failed: the only error that is an answer of the chain.
 * Everything else (no such block, unknown method, internal error) says nothing about the payment.
 */
export function isRevert(answer: RpcAnswer): boolean {
  if (answer.ok || answer.kind !== "error") return false;
  if (answer.code === REVERT_CODE) return true;
  if (!SERVER_ERROR_CODES.has(answer.code)) return false;
  return (answer.data !== null && answer.data !== "0x") || EXECUTION_ENDED.test(answer.message);
}

function parse(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
