// Asks an origin for its 402 without paying: one HTTP request by the declared method, or an MCP handshake and one tool
// call with empty arguments. Sends no declared headers, bodies or query. Knows nothing of the catalog; the only way
// out is outbound.ts.

import type { HostRules } from "../catalog/host-rules.ts";
import {
  isEventStream,
  MCP_PROTOCOL_VERSION,
  ReplyStream,
  readProtocolVersion,
  readReply,
  readSessionId,
  rpcNotification,
  rpcRequest,
} from "./mcp-wire.ts";
import {
  MAX_ANSWER_BYTES,
  type OutboundFailure,
  PROBE_TIMEOUT_MS,
  readTarget,
  sendBounded,
  type TargetReading,
} from "./outbound.ts";
import { type OriginStatement, readHttpStatement, readMcpStatement } from "./payment-required.ts";

export type Question =
  | { type: "http"; url: string; method: string }
  | { type: "mcp"; url: string; toolName: string; transport: "streamable-http" | "sse" };

export interface Asker {
  rules: HostRules;
  /** Says who asks and where to complain. */
  userAgent: string;
}

/** @param publicOrigin - ours, where the operator states it: the way to complain. */
export function proberUserAgent(publicOrigin: string | undefined): string {
  const where = publicOrigin === undefined ? "" : ` (+${publicOrigin})`;
  return `souk-prober/1${where}: asks for the 402 without paying`;
}

export type OriginAnswer =
  | { kind: "statement"; statement: OriginStatement }
  /** Nothing was sent, and nothing will be while the listing stays as it is. */
  | { kind: "refused"; problem: string }
  | { kind: "unreachable"; reason: OutboundFailure }
  /** The origin answered, but asked for no payment. */
  | { kind: "no_402"; status: number }
  /** It asked for a payment in words that cannot be read. */
  | { kind: "unreadable"; problem: string };

/** Methods that change nothing by themselves on a server that wants to be paid first. */
const PROBED_METHODS = ["GET", "HEAD", "POST"] as const;
type ProbedMethod = (typeof PROBED_METHODS)[number];

/** Where a question would be sent, or why it never is. */
export function readQuestion(question: Question, rules: HostRules): TargetReading {
  const target = readTarget(question.url, rules);
  if (!target.ok) return target;
  if (question.type === "mcp" && question.transport === "sse") {
    return { ok: false, problem: "speaks a transport that is not probed" };
  }
  if (question.type === "http" && !isProbed(question.method)) {
    return { ok: false, problem: `is called by ${question.method}, which is not probed` };
  }
  return target;
}

/** One question, at most `PROBE_TIMEOUT_MS`. Never throws for what an origin does. */
export async function askOrigin(question: Question, asker: Asker): Promise<OriginAnswer> {
  const target = readQuestion(question, asker.rules);
  if (!target.ok) return { kind: "refused", problem: target.problem };
  const deadline = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  return question.type === "mcp"
    ? askTool(target.url, question.toolName, asker, deadline)
    : askUrl(target.url, question.method as ProbedMethod, asker, deadline);
}

function isProbed(method: string): method is ProbedMethod {
  return PROBED_METHODS.includes(method as ProbedMethod);
}

async function askUrl(
  url: URL,
  method: ProbedMethod,
  asker: Asker,
  deadline: AbortSignal,
): Promise<OriginAnswer> {
  const headers = { "user-agent": asker.userAgent, accept: "application/json" };
  const request =
    method === "POST"
      ? { method, url, headers: { ...headers, "content-type": "application/json" }, body: "{}" }
      : { method, url, headers };
  const answer = await sendBounded(request, deadline);
  if (!answer.ok) return { kind: "unreachable", reason: answer.reason };
  return readHttpAnswer(answer);
}

interface HttpAnswer {
  status: number;
  headers: Headers;
  body: string;
  isCut: boolean;
}

function readHttpAnswer(answer: HttpAnswer): OriginAnswer {
  if (answer.status !== 402) return { kind: "no_402", status: answer.status };
  const header = answer.headers.get("payment-required");
  const isTooLarge = header === null ? answer.isCut : header.length > MAX_ANSWER_BYTES;
  if (isTooLarge) {
    const field = header === null ? "the body" : "PAYMENT-REQUIRED";
    return { kind: "unreadable", problem: `${field} is larger than 64 KiB` };
  }
  return fromReading(readHttpStatement(header, answer.body));
}

function fromReading(reading: ReturnType<typeof readHttpStatement>): OriginAnswer {
  return reading.ok
    ? { kind: "statement", statement: reading.statement }
    : { kind: "unreadable", problem: reading.problem };
}

/**
 * MCP over streamable HTTP: `initialize`, the notification that ends it, then `tools/call` with empty arguments. A 402
 * of HTTP itself on the way is an answer too: some sellers charge before they speak MCP.
 */
async function askTool(
  url: URL,
  toolName: string,
  asker: Asker,
  deadline: AbortSignal,
): Promise<OriginAnswer> {
  const opening = await call(1, "initialize", initializeParams(), { url, headers: {} }, asker, deadline);
  if (!opening.ok) return opening.answer;
  const sessionId = readSessionId(opening.headers);
  const session = {
    url,
    headers: {
      "mcp-protocol-version": readProtocolVersion(opening.reply),
      ...(sessionId !== undefined && { "mcp-session-id": sessionId }),
    },
  };
  const ready = rpcNotification("notifications/initialized");
  const noted = await sendBounded(mcpRequest(session, asker, ready), deadline, () => true);
  if (!noted.ok) return { kind: "unreachable", reason: noted.reason };
  const params = { name: toolName, arguments: {} };
  const answer = await call(2, "tools/call", params, session, asker, deadline);
  return answer.ok ? fromReading(readMcpStatement(answer.reply)) : answer.answer;
}

function initializeParams(): Record<string, unknown> {
  return {
    protocolVersion: MCP_PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: "souk-prober", version: "1" },
  };
}

interface McpSession {
  url: URL;
  headers: Record<string, string>;
}

type Reply =
  | { ok: true; reply: Record<string, unknown>; headers: Headers }
  | { ok: false; answer: OriginAnswer };

async function call(
  id: number,
  method: string,
  params: Record<string, unknown>,
  session: McpSession,
  asker: Asker,
  deadline: AbortSignal,
): Promise<Reply> {
  const stream = new ReplyStream(id);
  const request = mcpRequest(session, asker, rpcRequest(id, method, params));
  const answer = await sendBounded(
    request,
    deadline,
    (piece, headers) => isEventStream(headers) && stream.push(piece),
  );
  if (!answer.ok) return { ok: false, answer: { kind: "unreachable", reason: answer.reason } };
  const reply = stream.reply ?? readReply(answer.body, id);
  if (reply) return { ok: true, reply, headers: answer.headers };
  return { ok: false, answer: readHttpAnswer(answer) };
}

function mcpRequest(session: McpSession, asker: Asker, body: string) {
  const headers = {
    "user-agent": asker.userAgent,
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...session.headers,
  };
  return { method: "POST", url: session.url, headers, body } as const;
}
