// Lets a fetch-style handler stand in an Express (or plain Node) server.
//
//   app.post("/answer", express.raw({ type: "*/*" }), forExpress(sell(handler)));

import type { FetchHandler } from "./sell-http.ts";

/** What is used of Express's request: Node's IncomingMessage, and what body parsers leave behind. */
export interface ExpressRequest extends AsyncIterable<Uint8Array> {
  method?: string | undefined;
  url?: string | undefined;
  originalUrl?: string;
  headers: Record<string, string | string[] | undefined>;
  /** Set by a body parser: bytes and texts are passed on as they are, everything else as JSON. */
  body?: unknown;
  readableEnded?: boolean;
}

export interface ExpressResponse {
  statusCode: number;
  setHeader(name: string, value: string | string[]): unknown;
  end(body?: Uint8Array): unknown;
}

/** The handler as an Express route. What it throws goes to `next`. */
export function forExpress(handler: FetchHandler) {
  return async (
    incoming: ExpressRequest,
    outgoing: ExpressResponse,
    next: (error: unknown) => void = (error) => {
      throw error;
    },
  ): Promise<void> => {
    try {
      const response = await handler(await requestOf(incoming));
      outgoing.statusCode = response.status;
      for (const [name, value] of response.headers) {
        if (name !== "set-cookie") outgoing.setHeader(name, value);
      }
      const cookies = response.headers.getSetCookie();
      if (cookies.length > 0) outgoing.setHeader("set-cookie", cookies);
      outgoing.end(new Uint8Array(await response.arrayBuffer()));
    } catch (error) {
      next(error);
    }
  };
}

async function requestOf(incoming: ExpressRequest): Promise<Request> {
  const { method = "GET", headers } = incoming;
  const host = [headers.host].flat()[0] ?? "localhost";
  // Only path, method, headers and body are of use to a handler; TLS ended before Node.
  const url = new URL(incoming.originalUrl ?? incoming.url ?? "/", `http://${host}`);
  const taken = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each): [string, string] => [name, each]),
  );
  const body = method === "GET" || method === "HEAD" ? undefined : await bodyOf(incoming);
  return new Request(url, { method, headers: taken, ...(body === undefined ? {} : { body }) });
}

async function bodyOf(incoming: ExpressRequest): Promise<Uint8Array<ArrayBuffer> | string> {
  const { body } = incoming;
  if (body instanceof Uint8Array) return new Uint8Array(body);
  if (typeof body === "string") return body;
  if (body !== undefined && incoming.readableEnded) return JSON.stringify(body);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of incoming) chunks.push(new Uint8Array(chunk));
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
