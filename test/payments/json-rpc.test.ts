// JsonRpc against small HTTP servers that behave as providers do: batches, refusals, rate limits, hangs, lies.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { isRevert, JsonRpc, MAX_BATCH_CALLS } from "../../src/payments/evm/json-rpc.ts";

interface Element {
  id: number;
  method: string;
  params: unknown[];
}
type Reply = { status?: number; body?: unknown; text?: string; delayMs?: number };
type Behaviour = (elements: Element[], isBatch: boolean, requestNumber: number) => Reply;

const CHAIN = 84532;
const servers: Server[] = [];

/** A provider with a behaviour of its own; counts the HTTP requests it got. */
async function provider(behave: Behaviour): Promise<{ url: string; requests: Element[][] }> {
  const requests: Element[][] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const body = JSON.parse(text);
      const elements = Array.isArray(body) ? body : [body];
      requests.push(elements);
      const reply = behave(elements, Array.isArray(body), requests.length);
      setTimeout(() => {
        response.writeHead(reply.status ?? 200, { "content-type": "application/json" });
        response.end(reply.text ?? JSON.stringify(reply.body));
      }, reply.delayMs ?? 0);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function answerTo({ id, method, params }: Element, chainId = CHAIN): unknown {
  if (method === "eth_chainId") return { jsonrpc: "2.0", id, result: `0x${chainId.toString(16)}` };
  return { jsonrpc: "2.0", id, result: params[0] };
}

const honest: Behaviour = (elements, isBatch) => {
  const answers = elements.map((element) => answerTo(element));
  return { body: isBatch ? answers.toReversed() : answers[0] };
};

function rpcOf(...rpcUrls: string[]): JsonRpc {
  return new JsonRpc({ rpcUrls, chainId: CHAIN });
}

/** For the tests in which a node is too slow; in the others a busy machine must not be. */
function hastyRpcOf(...rpcUrls: string[]): JsonRpc {
  return new JsonRpc({ rpcUrls, chainId: CHAIN, attemptTimeoutMs: 1_000, totalTimeoutMs: 2_500 });
}

const echo = (value: string) => ({ method: "echo", params: [value] });

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

describe("JsonRpc", () => {
  it("sends one POST for a batch, matches answers by id, and asks the chain id once per URL", async () => {
    const { url, requests } = await provider(honest);
    const rpc = rpcOf(url);
    const answers = await rpc.batch([echo("a"), echo("b")]);
    expect(answers).toEqual([
      { ok: true, result: "a" },
      { ok: true, result: "b" },
    ]);
    expect(requests[0]?.map((element) => element.method)).toEqual(["echo", "echo", "eth_chainId"]);
    await rpcOf(url).batch([echo("c"), echo("d")]);
    expect(requests[1]?.map((element) => element.method)).toEqual(["echo", "echo"]);
    expect(requests).toHaveLength(2);
  });

  it("sends a single call as a plain object once the chain id is known", async () => {
    const shapes: boolean[] = [];
    const { url } = await provider((elements, isBatch, n) => {
      shapes.push(isBatch);
      return honest(elements, isBatch, n);
    });
    const rpc = rpcOf(url);
    await rpc.call("echo", ["a"]);
    expect(await rpc.call("echo", ["b"])).toEqual({ ok: true, result: "b" });
    expect(shapes).toEqual([true, false]);
  });

  it("cuts long batches at the element limit", async () => {
    const { url, requests } = await provider(honest);
    const rpc = rpcOf(url);
    await rpc.call("echo", ["first"]);
    const calls = Array.from({ length: MAX_BATCH_CALLS + 5 }, (_, index) => echo(String(index)));
    const answers = await rpc.batch(calls);
    expect(answers.map((answer) => answer.ok && answer.result)).toEqual(calls.map((call) => call.params[0]));
    expect(
      requests
        .slice(1)
        .map((elements) => elements.length)
        .toSorted((a, b) => b - a),
    ).toEqual([100, 5]);
  });

  it("uses nothing from a node of another chain, and believes it once it names the right one", async () => {
    let chainId = 1;
    const { url } = await provider((elements) => ({
      body: elements.map((element) => answerTo(element, chainId)),
    }));
    const rpc = rpcOf(url);
    expect(await rpc.batch([echo("a"), echo("b")])).toEqual([
      { ok: false, kind: "unanswered" },
      { ok: false, kind: "unanswered" },
    ]);
    expect(rpc.servesWrongChain()).toBe(true);
    chainId = CHAIN;
    expect(await rpc.batch([echo("a"), echo("b")])).toEqual([
      { ok: true, result: "a" },
      { ok: true, result: "b" },
    ]);
    expect(rpc.servesWrongChain()).toBe(false);
  });

  it.each<[string, Reply]>([
    ["an HTTP error", { status: 500, text: "<html>" }],
    ["a hang", { delayMs: 5_000, body: {} }],
    ["text that is not JSON", { text: "upstream connect error" }],
    ["an empty body", { text: "" }],
    ["a redirect", { status: 302, text: "" }],
    ["no elements", { body: [] }],
  ])("asks the fallback URL after %s, and prefers it for a while", async (_, reply) => {
    const broken = await provider(() => reply);
    const healthy = await provider(honest);
    const rpc = hastyRpcOf(broken.url, healthy.url);
    expect(await rpc.call("echo", ["a"])).toEqual({ ok: true, result: "a" });
    const requestsBefore = broken.requests.length;
    expect(await rpc.call("echo", ["b"])).toEqual({ ok: true, result: "b" });
    expect(broken.requests).toHaveLength(requestsBefore);
  });

  it("ends unanswered within the total timeout when no URL works", async () => {
    const hanging = await provider(() => ({ delayMs: 5_000, body: {} }));
    const startedMs = Date.now();
    const answers = await hastyRpcOf(hanging.url, "http://127.0.0.1:1").batch([echo("a")]);
    expect(answers).toEqual([{ ok: false, kind: "unanswered" }]);
    expect(Date.now() - startedMs).toBeLessThan(4_500);
  });

  it.each<[string, (elements: Element[]) => Reply]>([
    ["429", () => ({ status: 429, text: "slow down" })],
    ["-32005 for the whole", () => ({ body: { id: null, error: { code: -32005, message: "limit" } } })],
    ["-32005 for one element", (elements) => ({ body: limitLast(elements) })],
  ])("retries after %s with a pause, and only what is still open", async (_, limit) => {
    const { url, requests } = await provider((elements, isBatch, n) =>
      n === 2 ? limit(elements) : honest(elements, isBatch, n),
    );
    const rpc = rpcOf(url);
    await rpc.call("echo", ["first"]);
    const startedMs = Date.now();
    expect(await rpc.batch([echo("a"), echo("b")])).toEqual([
      { ok: true, result: "a" },
      { ok: true, result: "b" },
    ]);
    expect(Date.now() - startedMs).toBeGreaterThan(100);
    expect(requests).toHaveLength(3);
  });

  it("gives up on a rate limit that does not end", async () => {
    const { url, requests } = await provider(() => ({ status: 429, text: "" }));
    expect(await hastyRpcOf(url).batch([echo("a")])).toEqual([{ ok: false, kind: "unanswered" }]);
    expect(requests.length).toBeLessThanOrEqual(4);
  });

  it.each<[string, Reply]>([
    ["an error object", { body: { id: null, error: { code: -32600, message: "batches are not served" } } }],
    ["HTTP 400", { status: 400, text: "no batches" }],
    ["HTTP 413", { status: 413, text: "" }],
  ])("asks one by one when a batch is refused by %s, and remembers it", async (_, refusal) => {
    const { url, requests } = await provider((elements, isBatch, n) =>
      isBatch ? refusal : honest(elements, isBatch, n),
    );
    const rpc = rpcOf(url);
    const expected = [
      { ok: true, result: "a" },
      { ok: true, result: "b" },
    ];
    expect(await rpc.batch([echo("a"), echo("b")])).toEqual(expected);
    expect(requests).toHaveLength(4);
    expect(await rpc.batch([echo("a"), echo("b")])).toEqual(expected);
    expect(requests).toHaveLength(6);
  });

  it("keeps errors per element", async () => {
    const revert = { code: 3, message: "execution reverted: no", data: "0x08c379a0" };
    const { url } = await provider((elements) => ({
      body: elements.map((element) =>
        element.method === "fail" ? { id: element.id, error: revert } : answerTo(element),
      ),
    }));
    const [good, bad] = await rpcOf(url).batch([echo("a"), { method: "fail", params: [] }]);
    expect(good).toEqual({ ok: true, result: "a" });
    expect(bad).toEqual({ ok: false, kind: "error", ...revert });
  });
});

describe("isRevert", () => {
  const error = (code: number, message: string, data: `0x${string}` | null = null) =>
    isRevert({ ok: false, kind: "error", code, message, data });

  it("knows executed failures in the words of several nodes", () => {
    expect(error(3, "execution reverted", "0x")).toBe(true);
    expect(error(-32000, "execution reverted")).toBe(true);
    expect(error(-32000, "anything", "0x08c379a0")).toBe(true);
    expect(error(-32000, "invalid opcode: INVALID")).toBe(true);
    expect(error(-32015, "VM execution error.", "0x08c379a0")).toBe(true);
    expect(error(-32603, "EVM error OutOfGas")).toBe(true);
  });

  it("takes nothing else for an answer of the chain", () => {
    expect(error(-32000, "header not found")).toBe(false);
    expect(error(-32603, "internal error")).toBe(false);
    expect(error(-32601, "execution reverted is not a method")).toBe(false);
    expect(isRevert({ ok: false, kind: "unanswered" })).toBe(false);
    expect(isRevert({ ok: true, result: "0x" })).toBe(false);
  });
});

describe("a node's head", () => {
  it("lags when heights go backwards or blocks stop coming, and an idle chain without a block time does not", () => {
    const regular = new JsonRpc({ rpcUrls: [], chainId: 9_000_001, blockTimeMs: 2_000 });
    const at = (number: bigint, timeSeconds: number) =>
      regular.observeHead({ number, timeSeconds }, 1_000_000_000);
    expect(at(100n, 999_999)).toEqual({ behindBlocks: 0, ageMs: 1_000, isLagging: false });
    expect(at(98n, 999_999)).toMatchObject({ behindBlocks: 2, isLagging: false });
    expect(at(90n, 999_999)).toMatchObject({ behindBlocks: 10, isLagging: true });
    expect(at(101n, 999_900)).toMatchObject({ ageMs: 100_000, isLagging: true });
    const irregular = new JsonRpc({ rpcUrls: [], chainId: 9_000_002 });
    expect(irregular.observeHead({ number: 1n, timeSeconds: 5 }, 1_000_000_000)).toEqual({
      behindBlocks: 0,
      ageMs: null,
      isLagging: false,
    });
  });
});

function limitLast(elements: Element[]): unknown[] {
  return elements.map((element, index) =>
    index === elements.length - 1
      ? { id: element.id, error: { code: -32005, message: "limit exceeded" } }
      : answerTo(element),
  );
}
