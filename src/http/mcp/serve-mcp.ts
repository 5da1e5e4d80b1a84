// One MCP message over streamable HTTP, stateless: a server and a transport of the official SDK for each request, both
// gone with it. Loaded with the first call to /mcp, because the SDK's schemas would slow every Worker's start.

import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import { CfWorkerJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/cfworker";
import { describeError, log } from "../../platform/log.ts";
import type { Call } from "../call.ts";
import { TOOLS } from "./tool-schemas.ts";
import { runTool, type ToolAnswer } from "./tools.ts";

const INSTRUCTIONS =
  "Souk lists APIs and MCP tools that are paid for per call. Look with search_resources, then read get_resource for " +
  "the input schema and how to pay. Souk does not pay for you.";

/** `call.body` is one parsed JSON-RPC message. */
export async function serveMcp(call: Call): Promise<Response> {
  const server = new Server(
    { name: "souk", version: "0.1.0" },
    {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    answerTool(call, params.name, params.arguments ?? {}),
  );
  // Without `sessionIdGenerator` the transport is stateless.
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  return transport.handleRequest(acceptingJson(call.request), { parsedBody: call.body });
}

async function answerTool(call: Call, name: string, args: unknown): Promise<CallToolResult> {
  const answer = await runTool(call, name, args).catch((error): ToolAnswer => {
    log("tool_failed", { requestId: call.requestId, tool: name, cause: describeError(error) });
    return { ok: false, message: `internal error, request ${call.requestId}` };
  });
  if (!answer) throw new McpError(ErrorCode.InvalidParams, "no such tool");
  if (!answer.ok) return { isError: true, content: [{ type: "text", text: answer.message }] };
  return { structuredContent: answer.value, content: [{ type: "text", text: JSON.stringify(answer.value) }] };
}

/** The answer is JSON whatever the client accepts, and its body was read as JSON: the SDK need not refuse it. */
function acceptingJson(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.set("accept", "application/json, text/event-stream");
  headers.set("content-type", "application/json");
  return new Request(request.url, { method: "POST", headers });
}
