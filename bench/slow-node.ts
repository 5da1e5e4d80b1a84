// Stands between a contestant and its node, in a process of its own: waits a set time before each request, counts
// requests and their calls, and passes bytes on unread otherwise. It does as little as it can, because it runs on the
// same machine as what is measured; for nodes that lie there is test/support/rpc-proxy.ts.
//
//   node bench/slow-node.ts <node's port>
//
// Prints its own port. `POST /control {"delayMs":20}` sets the delay, answers the counts and starts them again.

import { Agent, createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";

export interface NodeCounts {
  /** HTTP requests. */
  requests: number;
  /** JSON-RPC calls in them. */
  calls: number;
}

const [nodePort] = process.argv.slice(2).map(Number);
const agent = new Agent({ keepAlive: true });
const headers = { "content-type": "application/json" };
let delayMs = 0;
let counts: NodeCounts = { requests: 0, calls: 0 };

const server = createServer(async (incoming, outgoing) => {
  const body = await readBody(incoming);
  if (incoming.url === "/control") {
    outgoing.end(JSON.stringify(counts));
    counts = { requests: 0, calls: 0 };
    delayMs = (JSON.parse(body.toString()) as { delayMs: number }).delayMs;
    return;
  }
  counts.requests++;
  counts.calls += callsIn(body);
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
  const asked = request({ host: "127.0.0.1", port: nodePort, method: "POST", agent, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  asked.once("error", () => outgoing.destroy());
  asked.end(body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Without parsing: each call of a batch has one version field, and no payment's data holds it. */
function callsIn(body: Buffer): number {
  let calls = 0;
  for (let at = body.indexOf(VERSION_FIELD); at !== -1; at = body.indexOf(VERSION_FIELD, at + 1)) calls++;
  return calls;
}

const VERSION_FIELD = Buffer.from('"jsonrpc"');
