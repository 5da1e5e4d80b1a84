// A chain of its own for a test file inside workerd: an anvil on the saved state with an RPC proxy in front.

import { inject } from "vitest";
import { type ProxyControl, proxyControl } from "./rpc-proxy-client.ts";

declare module "vitest" {
  interface ProvidedContext {
    chainLabUrl: string;
  }
}

export interface LabChain {
  /** The node itself: for what the test does to the chain. */
  rpcUrl: string;
  /** Through the proxy: for what is tested. */
  proxyUrl: string;
  proxy: ProxyControl;
}

/** Fields of scripts/chain/anvil.ts's AnvilOptions that make sense from here. */
export interface LabChainOptions {
  /** Absent: a block per transaction, at once. */
  blockTimeSeconds?: number;
  extraArgs?: string[];
}

export async function startLabChain(options: LabChainOptions = {}): Promise<LabChain> {
  const response = await fetch(inject("chainLabUrl"), { method: "POST", body: JSON.stringify(options) });
  if (!response.ok) throw new Error(await response.text());
  const { rpcUrl, proxyUrl } = (await response.json()) as { rpcUrl: string; proxyUrl: string };
  return { rpcUrl, proxyUrl, proxy: proxyControl(proxyUrl) };
}
