// A small HTTP server in front of a node, for fault tests and benches: it counts, delays, holds, drops, refuses and
// lies. Node only. Rules are set by plain HTTP, so that tests inside workerd steer it with the same client as Node
// does (rpc-proxy-client.ts). Without rules it passes everything on.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { keccak256 } from "viem";
import {
  PROVIDER_TEXT,
  type ProxyControl,
  proxyControl,
  type RpcCounts,
  type Rule,
} from "./rpc-proxy-client.ts";

export type { Action, ProxyControl, RpcCounts, Rule } from "./rpc-proxy-client.ts";

export interface RpcProxy extends ProxyControl {
  /** What a client uses as its RPC URL. Control lies below it, at `/control/...`. */
  rpcUrl: string;
  stop(): Promise<void>;
}

/** One call of a request, as the proxy treats it. */
interface Call {
  jsonrpc: string;
  id: unknown;
  method: string;
  params: unknown[];
}

type Answer = Record<string, unknown> | null;

/** `targetUrl` is the node; `port` 0 takes any free one. */
export async function startRpcProxy(targetUrl: string, port = 0): Promise<RpcProxy> {
  const proxy = new Proxying(targetUrl);
  const server = createServer((request, response) => {
    proxy.handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { rpcUrl, ...proxyControl(rpcUrl), stop: () => stop(server, proxy) };
}

async function stop(server: Server, proxy: Proxying): Promise<void> {
  proxy.release();
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

class Proxying {
  #targetUrl: string;
  #rules: Rule[] = [];
  #counts = noCounts();
  #held: (() => void)[] = [];

  constructor(targetUrl: string) {
    this.#targetUrl = targetUrl;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const path = request.url ?? "/";
    if (path.startsWith("/control/")) return reply(response, 200, this.#control(request.method, path, body));
    await this.#proxy(body, response);
  }

  release(): void {
    for (const go of this.#held.splice(0)) go();
  }

  #control(method: string | undefined, path: string, body: string): unknown {
    switch (`${method} ${path}`) {
      case "POST /control/rules":
        this.#rules.push(JSON.parse(body));
        return {};
      case "DELETE /control/rules":
        this.#rules = [];
        this.release();
        return {};
      case "POST /control/release":
        this.release();
        return {};
      case "GET /control/held":
        return this.#held.length;
      case "GET /control/counts":
        return this.#counts;
      case "DELETE /control/counts":
        this.#counts = noCounts();
        return {};
      default:
        throw new Error(`no such control: ${method} ${path}`);
    }
  }

  async #proxy(body: string, response: ServerResponse): Promise<void> {
    const parsed: Call | Call[] = JSON.parse(body);
    const calls = Array.isArray(parsed) ? parsed : [parsed];
    this.#count(calls);
    const rules = calls.map((call) => this.#take(call));
    // What concerns the whole request happens once, whichever of its calls asked for it.
    for (const rule of new Map(rules.map((rule) => [rule?.do, rule])).values()) {
      if (rule?.do === "delay") await new Promise((resolve) => setTimeout(resolve, rule.ms));
      if (rule?.do === "hold" || rule?.do === "hold_then_drop") await this.#hold();
      if (rule?.do === "drop" || rule?.do === "hold_then_drop") return void response.destroy();
      if (rule?.do === "status") return reply(response, rule.status, { error: PROVIDER_TEXT }, rule.headers);
    }
    const answers = await this.#answers(calls, rules);
    if (rules.some((rule) => rule?.do === "forward_then_drop")) return void response.destroy();
    if (rules.some((rule) => rule?.do === "forward_then_hold")) await this.#hold();
    const kept = answers.filter((answer) => answer !== null);
    reply(response, 200, Array.isArray(parsed) ? kept : (kept[0] ?? {}));
  }

  #hold(): Promise<void> {
    return new Promise((resolve) => this.#held.push(resolve));
  }

  #count(calls: Call[]): void {
    this.#counts.requests++;
    this.#counts.calls += calls.length;
    this.#counts.batches.push(calls.length);
    for (const { method, params } of calls) {
      this.#counts.byMethod[method] = (this.#counts.byMethod[method] ?? 0) + 1;
      if (method !== "eth_sendRawTransaction" || typeof params[0] !== "string") continue;
      if (!this.#counts.transactions.includes(params[0])) this.#counts.transactions.push(params[0]);
    }
  }

  /** The first rule that fits this call and is not used up; a rule with `skip` lets that many pass first. */
  #take({ method, params }: Call): Rule["action"] | undefined {
    for (const rule of this.#rules) {
      if (rule.method !== undefined && rule.method !== method) continue;
      if (rule.paramsInclude !== undefined && !JSON.stringify(params).includes(rule.paramsInclude)) continue;
      if (rule.skip !== undefined && rule.skip > 0) {
        rule.skip--;
        continue;
      }
      if (rule.times !== undefined && rule.times-- <= 0) continue;
      return rule.action;
    }
    return undefined;
  }

  async #answers(calls: Call[], rules: (Rule["action"] | undefined)[]): Promise<Answer[]> {
    const lag = rules.find((rule) => rule?.do === "lag");
    const passed = calls.filter((_, index) => isPassedOn(rules[index]));
    const real = new Map<Call, Answer>();
    const head = lag?.do === "lag" ? await this.#lagged(lag.blocks) : null;
    const sent = passed.map((call) => (head === null ? call : asOf(call, head)));
    const replies = sent.length === 0 ? [] : await this.#forward(sent);
    for (const [index, call] of passed.entries()) real.set(call, replies[index] ?? null);
    return calls.flatMap((call, index): Answer[] => {
      const rule = rules[index];
      const answer = real.get(call) ?? null;
      if (rule?.do === "twice") return [answer, answer];
      if (rule !== undefined && !isPassedOn(rule)) return [spoken(call, rule)];
      if (rule?.do === "replace") return [{ ...answer, result: rule.result }];
      return [head === null ? answer : hideAbove(call, answer, head)];
    });
  }

  async #lagged(blocks: number): Promise<bigint> {
    const [answer] = await this.#forward([{ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] }]);
    return BigInt(String(answer?.result)) - BigInt(blocks);
  }

  async #forward(calls: Call[]): Promise<Answer[]> {
    const body = calls.length === 1 ? calls[0] : calls;
    const response = await fetch(this.#targetUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const parsed = (await response.json()) as Answer | Answer[];
    const answers = Array.isArray(parsed) ? parsed : [parsed];
    return calls.map(({ id }) => answers.find((answer) => answer?.id === id) ?? null);
  }
}

function noCounts(): RpcCounts {
  return { requests: 0, calls: 0, byMethod: {}, batches: [], transactions: [] };
}

/** Whether the node hears of this call at all. */
function isPassedOn(rule: Rule["action"] | undefined): boolean {
  return rule === undefined || !["error", "answer", "swallow", "omit"].includes(rule.do);
}

function spoken({ id, params }: Call, rule: Rule["action"]): Answer {
  if (rule.do === "error") return { jsonrpc: "2.0", id, error: rule.error };
  if (rule.do === "answer") return { jsonrpc: "2.0", id, result: rule.result };
  if (rule.do === "swallow") return { jsonrpc: "2.0", id, result: keccak256(params[0] as `0x${string}`) };
  return null;
}

/** The same question, asked of an older head. */
function asOf(call: Call, head: bigint): Call {
  const params = call.params.map((param) => (param === "latest" ? `0x${head.toString(16)}` : param));
  return { ...call, params };
}

/** What a node that has not seen the newest blocks would say. */
function hideAbove(call: Call, answer: Answer, head: bigint): Answer {
  if (call.method === "eth_blockNumber") return { ...answer, result: `0x${head.toString(16)}` };
  const result = answer?.result as { blockNumber?: string } | null | undefined;
  const isAbove = typeof result?.blockNumber === "string" && BigInt(result.blockNumber) > head;
  return isAbove ? { ...answer, result: null } : answer;
}

function reply(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
