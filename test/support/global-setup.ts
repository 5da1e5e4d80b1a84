// Runs in Node before the tests inside workerd: gives them a place to ask for chains (chain-lab-client.ts) and one to
// ask for sellers' servers (origin-client.ts).

import type { TestProject } from "vitest/node";
import { startChainLab } from "./chain-lab.ts";
import { startOriginLab } from "./origins.ts";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [chains, origins] = await Promise.all([startChainLab(), startOriginLab()]);
  project.provide("chainLabUrl", chains.url);
  project.provide("originLabUrl", origins.url);
  return async () => {
    await Promise.all([chains.stop(), origins.stop()]);
  };
}
