// A node's gateway that remembers every HTTP request with its calls and misbehaves on demand, for tests of what a
// failing node does to a verdict. Node only.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ForwardedCall {
  method: string;
  params: unknown[];
}

export interface Misbehaviour {
  /** Instead of forwarding: this status and body. */
  status?: number;
  text?: string;
  /** Closes the connection without a word. */
  hangUp?: boolean;
  /** Answers nothing, for ever. */
  silent?: boolean;
  /** Per call: instead of the node's element. `undefined` leaves it, `null` drops it. */
  element?: (call: ForwardedCall) => Record<string, unknown> | null | undefined;
}

export interface FaultyNode {
  url: string;
  /** One entry per HTTP request. */
  requests: ForwardedCall[][];
  /** What to do with the requests from now on; `{}` forwards again. */
  behave(misbehaviour: Misbehaviour): void;
  stop(): Promise<void>;
}

/** @param path - appended to the URL, for example a provider's key. */
export async function startFaultyNode(target: string, path = ""): Promise<FaultyNode> {
  const requests: ForwardedCall[][] = [];
  let misbehaviour: Misbehaviour = {};
  const server = createServer((request, response) => {
    answer(target, misbehaviour, requests, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    requests,
    behave: (next) => {
      misbehaviour = next;
    },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(
  target: string,
  misbehaviour: Misbehaviour,
  requests: ForwardedCall[][],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let text = "";
  for await (const chunk of request) text += chunk;
  const body = JSON.parse(text) as (ForwardedCall & { id: number }) | (ForwardedCall & { id: number })[];
  const calls = Array.isArray(body) ? body : [body];
  requests.push(calls.map(({ method, params }) => ({ method, params })));

  if (misbehaviour.silent) return;
  if (misbehaviour.hangUp) {
    response.destroy();
    return;
  }
  if (misbehaviour.status !== undefined || misbehaviour.text !== undefined) {
    response.writeHead(misbehaviour.status ?? 200, JSON_HEADERS);
    response.end(misbehaviour.text ?? "");
    return;
  }
  const forwarded = await fetch(target, { method: "POST", body: text, headers: JSON_HEADERS });
  const answered = (await forwarded.json()) as { id: number } | { id: number }[];
  const elements = (Array.isArray(answered) ? answered : [answered]).flatMap((element) => {
    const call = calls.find(({ id }) => id === element.id);
    const instead = call && misbehaviour.element?.(call);
    if (instead === undefined) return [element];
    return instead === null ? [] : [{ jsonrpc: "2.0", id: element.id, ...instead }];
  });
  response.writeHead(200, JSON_HEADERS);
  response.end(JSON.stringify(Array.isArray(body) ? elements : (elements[0] ?? {})));
}

const JSON_HEADERS = { "content-type": "application/json" };
