// Steers an RPC proxy (rpc-proxy.ts) by HTTP: the same in Node and in tests inside workerd.

/** What the proxy says of itself where a provider would say why: nobody behind the Worker may ever read it. */
export const PROVIDER_TEXT = "provider-secret-text";

export type Action =
  /** Before it is passed on. */
  | { do: "delay"; ms: number }
  /** Until `release`; the node has not heard of it yet. */
  | { do: "hold" }
  /** Until `release`, and then the connection is cut: the node never hears of it. */
  | { do: "hold_then_drop" }
  /** The connection is cut; the node hears nothing. */
  | { do: "drop" }
  /** The node hears it and answers; the answer is lost. */
  | { do: "forward_then_drop" }
  /** The node hears it and answers; the answer comes after `release`. */
  | { do: "forward_then_hold" }
  /** The whole request is answered with this HTTP status. */
  | { do: "status"; status: number; headers?: Record<string, string> }
  /** This call is answered with an error; the node hears nothing. */
  | { do: "error"; error: { code: number; message: string; data?: unknown } }
  /** A lie: this result, and the node hears nothing. */
  | { do: "answer"; result: unknown }
  /** A lie: the node hears it, and its result is replaced. */
  | { do: "replace"; result: unknown }
  /** A transaction is accepted, its hash answered, and the node hears nothing. */
  | { do: "swallow" }
  /** The answer has no element for this call. */
  | { do: "omit" }
  /** The element is answered twice. */
  | { do: "twice" }
  /** The whole request is answered as of this many blocks ago. */
  | { do: "lag"; blocks: number };

export interface Rule {
  /** Absent: every method. */
  method?: string;
  /** Only calls whose params, as JSON, contain this text. */
  paramsInclude?: string;
  /** Let this many pass first. */
  skip?: number;
  /** Absent: until the rules are cleared. */
  times?: number;
  action: Action;
}

export interface RpcCounts {
  /** HTTP requests. */
  requests: number;
  calls: number;
  byMethod: Record<string, number>;
  /** Calls in each request, in order. */
  batches: number[];
  /** Different signed transactions, in the order in which they first came; the same bytes again are not new. */
  transactions: string[];
}

export interface ProxyControl {
  /** The first rule that fits a call is applied to it. */
  addRule(rule: Rule): Promise<void>;
  /** No rules, and whatever was held goes on. */
  clearRules(): Promise<void>;
  release(): Promise<void>;
  /** Requests that are held now. */
  held(): Promise<number>;
  counts(): Promise<RpcCounts>;
  resetCounts(): Promise<void>;
}

export function proxyControl(rpcUrl: string): ProxyControl {
  const ask = async <Result>(method: string, path: string, body?: unknown): Promise<Result> => {
    const response = await fetch(`${rpcUrl}/control/${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response.json() as Promise<Result>;
  };
  return {
    addRule: async (rule) => void (await ask("POST", "rules", rule)),
    clearRules: async () => void (await ask("DELETE", "rules")),
    release: async () => void (await ask("POST", "release")),
    held: () => ask("GET", "held"),
    counts: () => ask("GET", "counts"),
    resetCounts: async () => void (await ask("DELETE", "counts")),
  };
}
