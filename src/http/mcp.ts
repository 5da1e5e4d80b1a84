// POST /mcp: the bazaar for agents, by the Model Context Protocol (streamable HTTP, stateless). One message a request; no
// stream to listen on, so GET is 405, as the protocol allows.

import { failureAnswer } from "./answers.ts";
import type { Call, Route } from "./call.ts";

async function mcp(call: Call): Promise<Response> {
  if (!isOwnOrNoOrigin(call)) {
    return failureAnswer("mcp", {
      status: 403,
      code: "FORBIDDEN",
      message: "pages of other origins may not call this",
      reason: "forbidden",
    });
  }
  const { serveMcp } = await import("./mcp/serve-mcp.ts");
  return serveMcp(call);
}

/** A browser names the page that calls; programs name none. The protocol wants it checked, against DNS rebinding. */
function isOwnOrNoOrigin({ request, url, config }: Call): boolean {
  const origin = request.headers.get("origin");
  return origin === null || origin === (config.publicOrigin ?? url.origin);
}

export const mcpRoute: Route = {
  method: "POST",
  path: "/mcp",
  face: "mcp",
  credential: { kind: "none" },
  summary: "MCP server with search_resources, list_resources and get_resource",
  body: {
    type: "object",
    required: ["jsonrpc", "method"],
    properties: { jsonrpc: { const: "2.0" }, method: { type: "string" } },
  },
  answers: {
    200: {
      type: "object",
      required: ["jsonrpc", "id"],
      properties: { jsonrpc: { const: "2.0" }, result: { type: "object" }, error: { type: "object" } },
    },
    202: { type: "null", description: "A notification was taken" },
  },
  handle: mcp,
};
