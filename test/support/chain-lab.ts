// Starts chains for tests inside workerd, which cannot start processes: a small HTTP server in Node (global-setup.ts)
// that starts one anvil with an RPC proxy in front per request, and stops them all in the end. Node only;
// chain-lab-client.ts is the other side.

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type Anvil, type AnvilOptions, startAnvil } from "../../scripts/chain/anvil.ts";
import { type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";

export interface ChainLab {
  url: string;
  /** Stops every chain and the server. */
  stop(): Promise<void>;
}

export async function startChainLab(): Promise<ChainLab> {
  const running: (Anvil | RpcProxy)[] = [];
  const server = createServer(async (request, response) => {
    try {
      const options: AnvilOptions = JSON.parse(await readBody(request));
      const anvil = await startAnvil(options);
      const proxy = await startRpcProxy(anvil.rpcUrl);
      running.push(proxy, anvil);
      response.end(JSON.stringify({ rpcUrl: anvil.rpcUrl, proxyUrl: proxy.rpcUrl }));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await Promise.all(running.map((process) => process.stop()));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
