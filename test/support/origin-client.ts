// Steers a seller's server for tests (origins.ts) by HTTP: the same in Node and in tests inside workerd.

import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    originLabUrl: string;
  }
}

/** What a path of the origin does when it is asked. */
export type Behaviour =
  | { do: "answer"; status: number; headers?: Record<string, string>; body?: string }
  /** The v2 header, as the published server writes it. */
  | { do: "payment_required"; paymentRequired: unknown }
  /** An MCP server whose tools all answer so; `sse` frames answers as events and leaves the stream open. */
  | { do: "mcp"; paymentRequired: unknown; sse?: boolean; sessionId?: string; in?: "text" | "error" }
  /** Headers at once, then a byte now and then, without an end. */
  | { do: "drip"; status: number }
  /** Never answers. */
  | { do: "silence" };

export interface SeenRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface Origin {
  url: string;
  behave(path: string, behaviour: Behaviour): Promise<void>;
  /** Every request since the start, control left out. */
  seen(): Promise<SeenRequest[]>;
}

export function originAt(url: string): Origin {
  return {
    url,
    behave: async (path, behaviour) => {
      const control = await fetch(`${url}/control`, {
        method: "PUT",
        body: JSON.stringify({ path, behaviour }),
      });
      await control.body?.cancel();
    },
    seen: async () => (await (await fetch(`${url}/control`)).json()) as SeenRequest[],
  };
}

/** An origin of its own, for tests inside workerd: they cannot start servers. */
export async function startLabOrigin(): Promise<Origin> {
  const response = await fetch(inject("originLabUrl"), { method: "POST" });
  return originAt(((await response.json()) as { url: string }).url);
}
