// The Worker that a simulation runs in: `GET /?operations=10000&seed=7` answers its outcome.

import { systemClock } from "../../../src/platform/clock.ts";
import { weather } from "./objects.ts";
import { Simulation, type SimulationEnv } from "./simulation.ts";

export { SimulatedPaidCall, SimulatedWallet } from "./objects.ts";

export default {
  async fetch(request: Request, env: SimulationEnv): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const simulation = new Simulation(env, Number(searchParams.get("seed")));
    // One isolate holds this Worker and all its objects: its clock is theirs, its weather too.
    const machineNowMs = systemClock.nowMs.bind(systemClock);
    systemClock.nowMs = () => machineNowMs() + simulation.aheadMs;
    weather.nextFault = simulation.nextFault;
    return Response.json(await simulation.run(Number(searchParams.get("operations"))));
  },
};
