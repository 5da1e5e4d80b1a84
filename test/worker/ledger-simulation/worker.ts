// The Worker that a simulation runs in: `GET /?operations=10000&seed=7` runs a round and answers the outcome so far. The
// first request's seed is the simulation's.

import { systemClock } from "../../../src/platform/clock.ts";
import { weather } from "./objects.ts";
import { Simulation, type SimulationEnv } from "./simulation.ts";

export { SimulatedPaidCall, SimulatedWallet } from "./objects.ts";

let simulation: Simulation | undefined;

export default {
  async fetch(request: Request, env: SimulationEnv): Promise<Response> {
    const { searchParams } = new URL(request.url);
    simulation ??= started(new Simulation(env, Number(searchParams.get("seed"))));
    return Response.json(await simulation.run(Number(searchParams.get("operations"))));
  },
};

/** One isolate holds this Worker and all its objects: its clock is theirs, its weather too. */
function started(fresh: Simulation): Simulation {
  const machineNowMs = systemClock.nowMs.bind(systemClock);
  systemClock.nowMs = () => machineNowMs() + fresh.aheadMs;
  weather.nextFault = fresh.nextFault;
  return fresh;
}
