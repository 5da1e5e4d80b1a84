// The catalog's hourly work: forget what is too old, index what was left behind. Each part does a bounded amount, so a
// backlog takes several hours and no run takes long. Owns the storage.

import type { Clock } from "../../platform/clock.ts";
import { describeError, logAlarm } from "../../platform/log.ts";
import { indexLeftBehind } from "./index-listing-store.ts";
import { forgetOld } from "./retention-store.ts";

/** Listings indexed in one run; only crashes and races leave any. */
const MAX_INDEXED = 500;

export async function keepCatalog({ db, clock }: { db: D1Database; clock: Clock }): Promise<void> {
  for (const part of [() => forgetOld(db, clock.nowMs()), () => indexLeftBehind(db, MAX_INDEXED)]) {
    try {
      await part();
    } catch (error) {
      logAlarm("housekeeping_failed", { cause: describeError(error) });
    }
  }
}
