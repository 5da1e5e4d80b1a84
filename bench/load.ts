// Load and what it measured. autocannon keeps a number of connections busy, one request at a time on each; what the
// answers mean is the caller's.

import autocannon from "autocannon";

export interface LoadOptions {
  url: string;
  /** Each connection sends these one after the other, from its own place in the list on. */
  bodies: readonly string[];
  connections: number;
  /** Either so long, over and over, or `"once"`: every body once, the connections sharing them out. */
  for: { seconds: number } | "once";
  headers?: Record<string, string>;
}

export interface Load {
  answers: Answer[];
  /** Requests begun: at the end of a timed load some have no answer yet. */
  sent: number;
  /** From the first request to the last answer. */
  seconds: number;
}

export interface Answer {
  status: number;
  ms: number;
  body: string;
}

/** Longer than any answer of a contestant takes that still works. */
const TIMEOUT_SECONDS = 60;

/** @throws Error when a request ends without an answer. */
export function fire(options: LoadOptions): Promise<Load> {
  const { url, bodies, connections, headers = {} } = options;
  const isOnce = options.for === "once";
  const requests = bodies.map((body) => ({
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  }));
  const answers: Answer[] = [];
  const texts: string[] = [];
  let clients = 0;
  let lastAnswerMs = 0;
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const shot = autocannon(
      {
        url,
        connections,
        ...(options.for === "once" ? { amount: bodies.length } : { duration: options.for.seconds }),
        timeout: TIMEOUT_SECONDS,
        setupClient: (client) => {
          const index = clients++;
          client.setRequests(
            isOnce ? everyNth(requests, index, connections) : rotated(requests, index, connections),
          );
        },
        verifyBody: (body) => texts.push(body) > 0,
      },
      (error, { errors, requests: { sent } }) => {
        if (error || errors > 0) return reject(error ?? new Error(`${errors} requests had no answer`));
        for (const [index, answer] of answers.entries()) answer.body = texts[index] ?? "";
        resolve({ answers, sent, seconds: (lastAnswerMs - startedMs) / 1_000 });
      },
    );
    shot.on("response", (_client: unknown, status: number, _bytes: number, ms: number) => {
      lastAnswerMs = performance.now();
      answers.push({ status, ms, body: "" });
    });
  });
}

function everyNth<T>(items: readonly T[], first: number, step: number): T[] {
  return items.filter((_, index) => index % step === first);
}

/** So that connections do not send the same body at the same time. */
function rotated<T>(items: readonly T[], index: number, connections: number): T[] {
  const start = Math.floor((index * items.length) / connections);
  return [...items.slice(start), ...items.slice(0, start)];
}

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** By nearest rank. */
export function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** How often each reason occurs, most frequent first. */
export function tally(reasons: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted((a, b) => b[1] - a[1]));
}
