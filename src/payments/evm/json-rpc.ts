// JSON-RPC to the nodes of one network. This file owns fetch and timers: one POST per batch, fallback URLs, retries
// within a bound, single calls for providers that refuse batches, and the check that the node serves the right
// chain. Nothing a provider says and no URL leaves it except in answers, whose text never reaches a client.

import { readBounded } from "../../platform/bounded-body.ts";
import { systemClock } from "../../platform/clock.ts";
import {
  type ElementReading,
  type RpcAnswer,
  type RpcCall,
  readReply,
  UNANSWERED,
  writeRequest,
} from "./json-rpc-wire.ts";
import { factsOf, type Head, type HeadReport, type NodeFacts, observeHead } from "./node-memory.ts";

export { isRevert, type RpcAnswer, type RpcCall, UNANSWERED } from "./json-rpc-wire.ts";
export type { Head, HeadReport } from "./node-memory.ts";

/** Providers cut batches at 100 to 1,000 elements. */
export const MAX_BATCH_CALLS = 100;
/** A healthy node answers a batch of reads in well under a second; this is for a node that hangs. */
const ATTEMPT_TIMEOUT_MS = 4_000;
/** All attempts together. Callers of verify give up after some 30 s; they shall hear 502 from us before that. */
const TOTAL_TIMEOUT_MS = 9_000;
const MAX_ATTEMPTS = 4;
/** Waits once every URL was tried: 150, 300, 600 ms. */
const FIRST_BACKOFF_MS = 150;
/** How long a URL that just failed is asked after the others. */
const REST_MS = 30_000;
/** A hundred receipts with logs, or a batch of contract code, stay far below it. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

export interface JsonRpcOptions {
  /** First is preferred, the rest are fallbacks. */
  rpcUrls: readonly string[];
  chainId: number;
  /** Null where blocks come irregularly: then a head's age is not judged. */
  blockTimeMs?: number | null;
  attemptTimeoutMs?: number;
  totalTimeoutMs?: number;
}

/** Cheap to make and without I/O of its own: one per request or per object. */
export class JsonRpc {
  readonly #rpcUrls: readonly string[];
  readonly #chainId: number;
  readonly #blockTimeMs: number | null;
  readonly #attemptTimeoutMs: number;
  readonly #totalTimeoutMs: number;

  constructor(options: JsonRpcOptions) {
    this.#rpcUrls = options.rpcUrls;
    this.#chainId = options.chainId;
    this.#blockTimeMs = options.blockTimeMs ?? null;
    this.#attemptTimeoutMs = options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS;
    this.#totalTimeoutMs = options.totalTimeoutMs ?? TOTAL_TIMEOUT_MS;
  }

  /**
   * Answers in the order of the calls, never throws, and ends within the total timeout. One POST per hundred calls;
   * what a node left unanswered is asked again, what it answered is not.
   */
  async batch(calls: readonly RpcCall[]): Promise<RpcAnswer[]> {
    const parts: Promise<RpcAnswer[]>[] = [];
    for (let start = 0; start < calls.length; start += MAX_BATCH_CALLS) {
      parts.push(this.#answer(calls.slice(start, start + MAX_BATCH_CALLS)));
    }
    return (await Promise.all(parts)).flat();
  }

  async call(method: string, params: readonly unknown[]): Promise<RpcAnswer> {
    const [answer = UNANSWERED] = await this.batch([{ method, params }]);
    return answer;
  }

  /** A configured URL last said that it serves another chain: then nothing it says is used. */
  servesWrongChain(): boolean {
    return this.#rpcUrls.some((url) => factsOf(this.#chainId, url).chain === "wrong");
  }

  /** What a head just read says about the node: heights going backwards, and its age where blocks come regularly. */
  observeHead(head: Head, nowMs: number): HeadReport {
    return observeHead(this.#chainId, head, this.#blockTimeMs, nowMs);
  }

  async #answer(calls: readonly RpcCall[]): Promise<RpcAnswer[]> {
    const answers: RpcAnswer[] = calls.map(() => UNANSWERED);
    const endMs = systemClock.nowMs() + this.#totalTimeoutMs;
    const urls = this.#urlsByHealth();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const open = [...answers.keys()].filter((index) => isOpen(answers[index]));
      const url = urls[attempt % urls.length];
      if (open.length === 0 || url === undefined) break;
      const isNewRound = attempt > 0 && attempt % urls.length === 0;
      if (isNewRound) await pause(FIRST_BACKOFF_MS * 2 ** (attempt - 1));
      const leftMs = endMs - systemClock.nowMs();
      if (leftMs <= 0) break;
      const timeoutMs = Math.min(this.#attemptTimeoutMs, leftMs);
      const elements = await this.#ask(url, pick(calls, open), timeoutMs);
      for (const [position, index] of open.entries()) answers[index] = settled(elements[position]);
    }
    return answers;
  }

  /** URLs in the operator's order, those that just failed or serve another chain last. */
  #urlsByHealth(): string[] {
    const nowMs = systemClock.nowMs();
    const isAvoided = (url: string) => {
      const { restUntilMs, chain } = factsOf(this.#chainId, url);
      return restUntilMs > nowMs || chain === "wrong";
    };
    return this.#rpcUrls.toSorted((a, b) => Number(isAvoided(a)) - Number(isAvoided(b)));
  }

  /** One attempt at one URL. The chain id travels along until this URL has once named the right one. */
  async #ask(url: string, calls: readonly RpcCall[], timeoutMs: number): Promise<ElementReading[]> {
    const facts = factsOf(this.#chainId, url);
    const isChecked = facts.chain === "right";
    const elements = await exchange(url, isChecked ? calls : [...calls, CHAIN_ID_CALL], facts, timeoutMs);
    if (elements.every((element) => isOpen(settled(element)))) {
      facts.restUntilMs = systemClock.nowMs() + REST_MS;
      return elements.slice(0, calls.length);
    }
    facts.restUntilMs = 0;
    if (isChecked) return elements;
    const stated = settled(elements.pop());
    if (!stated.ok) return calls.map(() => UNANSWERED);
    const isRight = isChainId(stated.result, this.#chainId);
    facts.chain = isRight ? "right" : "wrong";
    return isRight ? elements : calls.map(() => UNANSWERED);
  }
}

const CHAIN_ID_CALL: RpcCall = { method: "eth_chainId", params: [] };

function isChainId(result: unknown, chainId: number): boolean {
  return (
    typeof result === "string" && /^0x[0-9a-fA-F]{1,16}$/.test(result) && BigInt(result) === BigInt(chainId)
  );
}

function isOpen(answer: RpcAnswer | undefined): boolean {
  return answer === undefined || (!answer.ok && answer.kind === "unanswered");
}

/** A rate limit that outlived the retries is no answer. */
function settled(element: ElementReading | undefined): RpcAnswer {
  return element === undefined || element === "rate_limited" ? UNANSWERED : element;
}

function pick(calls: readonly RpcCall[], indexes: readonly number[]): RpcCall[] {
  return indexes.flatMap((index) => calls[index] ?? []);
}

/** Sends calls as one batch, or one by one to a provider that refuses batches and answers single calls. */
async function exchange(
  url: string,
  calls: readonly RpcCall[],
  facts: NodeFacts,
  timeoutMs: number,
): Promise<ElementReading[]> {
  if (facts.takesBatches || calls.length === 1) {
    const reading = await post(url, calls, timeoutMs);
    if (reading.kind === "elements") return reading.elements;
    if (reading.kind !== "batch_refused") {
      return calls.map(() => (reading.kind === "rate_limited" ? "rate_limited" : UNANSWERED));
    }
  }
  const singles = await Promise.all(calls.map((call) => post(url, [call], timeoutMs)));
  const elements = singles.map((reading): ElementReading => {
    if (reading.kind === "elements") return reading.elements[0] ?? UNANSWERED;
    return reading.kind === "rate_limited" ? "rate_limited" : UNANSWERED;
  });
  if (elements.some((element) => !isOpen(settled(element)))) facts.takesBatches = false;
  return elements;
}

async function post(url: string, calls: readonly RpcCall[], timeoutMs: number) {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: writeRequest(calls),
      // A redirect would carry signed transactions to a host the operator never named.
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const reply = await readBounded(response, MAX_REPLY_BYTES);
    return readReply(response.status, reply && new TextDecoder().decode(reply), calls.length);
  } catch {
    return { kind: "failed" } as const;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
