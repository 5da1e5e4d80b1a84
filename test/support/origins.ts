// Sellers' servers for tests: small HTTP servers on loopback that answer as told (origin-client.ts) and remember what
// they were asked. Node only.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Behaviour, type Origin, originAt, type SeenRequest } from "./origin-client.ts";

export interface RunningOrigin extends Origin {
  stop(): Promise<void>;
}

export async function startOrigin(): Promise<RunningOrigin> {
  const behaviours = new Map<string, Behaviour>();
  const seen: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const path = new URL(request.url ?? "/", "http://origin").pathname;
    if (path === "/control") return control(request, response, body, behaviours, seen);
    const headers = request.headers as Record<string, string>;
    seen.push({ method: request.method ?? "", path: request.url ?? "", headers, body });
    behave(behaviours.get(path) ?? { do: "answer", status: 404 }, body, response);
  });
  const url = await listen(server);
  return { ...originAt(url), stop: () => close(server) };
}

/** Starts one origin per POST and stops them all in the end. */
export async function startOriginLab(): Promise<{ url: string; stop(): Promise<void> }> {
  const running: RunningOrigin[] = [];
  const server = createServer(async (_request, response) => {
    const origin = await startOrigin();
    running.push(origin);
    response.end(JSON.stringify({ url: origin.url }));
  });
  const url = await listen(server);
  const stop = async () => {
    await close(server);
    await Promise.all(running.map((origin) => origin.stop()));
  };
  return { url, stop };
}

function control(
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  behaviours: Map<string, Behaviour>,
  seen: SeenRequest[],
): void {
  if (request.method === "GET") return void response.end(JSON.stringify(seen));
  const { path, behaviour } = JSON.parse(body);
  behaviours.set(path, behaviour);
  response.end();
}

function behave(behaviour: Behaviour, body: string, response: ServerResponse): void {
  switch (behaviour.do) {
    case "answer":
      response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body);
      return;
    case "payment_required":
      response.writeHead(402, { "payment-required": base64Json(behaviour.paymentRequired) }).end("{}");
      return;
    case "mcp":
      speakMcp(behaviour, body, response);
      return;
    case "drip": {
      response.writeHead(behaviour.status);
      const drip = setInterval(() => response.write("x"), 100);
      response.on("close", () => clearInterval(drip));
      return;
    }
    case "silence":
  }
}

function speakMcp(
  behaviour: Extract<Behaviour, { do: "mcp" }>,
  body: string,
  response: ServerResponse,
): void {
  const { id, method, params } = JSON.parse(body);
  const session = behaviour.sessionId === undefined ? {} : { "mcp-session-id": behaviour.sessionId };
  if (id === undefined) return void response.writeHead(202).end();
  const reply = { jsonrpc: "2.0", id, ...mcpOutcome(behaviour, method, params) };
  if (!behaviour.sse) {
    response.writeHead(200, { "content-type": "application/json", ...session }).end(JSON.stringify(reply));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", ...session });
  const note = { jsonrpc: "2.0", method: "notifications/message", params: {} };
  response.write(`event: message\r\ndata: ${JSON.stringify(note)}\r\n\r\n`);
  response.write(`id: 7\r\nevent: message\r\ndata: ${JSON.stringify(reply)}\r\n\r\n`);
}

function mcpOutcome(
  behaviour: Extract<Behaviour, { do: "mcp" }>,
  method: string,
  params: { protocolVersion?: string },
): object {
  if (method === "initialize") {
    const { protocolVersion } = params;
    return { result: { protocolVersion, capabilities: {}, serverInfo: { name: "seller", version: "1" } } };
  }
  const { paymentRequired } = behaviour;
  if (behaviour.in === "error") {
    return { error: { code: 402, message: "Payment required", data: paymentRequired } };
  }
  const content = [{ type: "text", text: JSON.stringify(paymentRequired) }];
  const structured = behaviour.in === "text" ? {} : { structuredContent: paymentRequired };
  return { result: { isError: true, content, ...structured } };
}

function base64Json(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64");
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
