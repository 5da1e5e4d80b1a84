// The little of MCP's streamable HTTP that a probe needs: JSON-RPC messages, and finding the answer to one of them in
// a JSON body or in a stream of server-sent events. Pure.

/** The newest revision this speaks; servers answer with the one they prefer. */
export const MCP_PROTOCOL_VERSION = "2025-06-18";

export function rpcRequest(id: number, method: string, params: Record<string, unknown>): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/** A message that wants no answer. */
export function rpcNotification(method: string): string {
  return JSON.stringify({ jsonrpc: "2.0", method });
}

/** `text` as the JSON-RPC answer with this id, or undefined when it is something else. */
export function readReply(text: string, id: number): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    const isReply = "id" in value && value.id === id && ("result" in value || "error" in value);
    return isReply ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export function isEventStream(headers: Headers): boolean {
  return /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
}

/**
 * Finds one answer in a stream of server-sent events as it comes. Looks at every character once: a server that sends
 * single bytes costs no more than one that sends pages.
 */
export class ReplyStream {
  readonly #id: number;
  #unfinishedLine: string[] = [];
  #data: string[] = [];
  reply: Record<string, unknown> | undefined;

  constructor(id: number) {
    this.#id = id;
  }

  /** Takes the next piece of text; true once the answer is there. */
  push(piece: string): boolean {
    const [first = "", ...others] = piece.replaceAll("\r", "").split("\n");
    this.#unfinishedLine.push(first);
    for (const next of others) {
      this.#endLine(this.#unfinishedLine.join(""));
      if (this.reply) return true;
      this.#unfinishedLine = [next];
    }
    return false;
  }

  #endLine(line: string): void {
    if (line.startsWith("data:")) this.#data.push(line.slice(line[5] === " " ? 6 : 5));
    if (line !== "") return;
    this.reply = readReply(this.#data.join("\n"), this.#id);
    this.#data = [];
  }
}

/** The session to name in later requests. Visible ASCII only, as the transport's specification demands. */
export function readSessionId(headers: Headers): string | undefined {
  const sessionId = headers.get("mcp-session-id") ?? "";
  return /^[\x21-\x7e]{1,256}$/.test(sessionId) ? sessionId : undefined;
}

/** The revision that the server settled on in its answer to `initialize`, for the header of later requests. */
export function readProtocolVersion(reply: Record<string, unknown>): string {
  const { result } = reply;
  const version =
    typeof result === "object" && result !== null && "protocolVersion" in result
      ? result.protocolVersion
      : undefined;
  return typeof version === "string" && /^\d{4}-\d{2}-\d{2}$/.test(version) ? version : MCP_PROTOCOL_VERSION;
}
