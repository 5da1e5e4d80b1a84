// What /health says of the bazaar: does the catalog answer, and is anything lost on the way into it?

import { countLost } from "../bazaar/catalog/observation-store.ts";
import { describeError, log } from "../platform/log.ts";
import type { Call } from "./call.ts";
import type { HealthCheck } from "./health.ts";

/** Long enough to be seen by whoever looks once a day. */
const RECENT_MS = 86_400_000;

export async function examineCatalog({ env, clock }: Call): Promise<HealthCheck[]> {
  try {
    const { all, recent } = await countLost(env.DB, clock.nowMs() - RECENT_MS);
    return [
      { name: "catalog", ok: true, detail: "answers" },
      {
        name: "lost observations",
        ok: recent === 0,
        detail: `${recent} in the last day, ${all} in the last month could not be stored`,
      },
    ];
  } catch (error) {
    log("catalog_health_failed", { cause: describeError(error) });
    return [{ name: "catalog", ok: false, detail: "does not answer" }];
  }
}
