import type { D1Migration } from "cloudflare:test";
import type { Env as SoukEnv } from "../../src/config.ts";

declare global {
  namespace Cloudflare {
    interface Env extends SoukEnv {
      /** Optional, so that the objects' own environment, which has none, is one of these. */
      TEST_MIGRATIONS?: D1Migration[];
    }
    interface GlobalProps {
      mainModule: typeof import("../../src/index.ts");
    }
  }
}
