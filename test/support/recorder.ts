// A plain HTTP forwarder in front of the Worker that remembers every answer, whoever asked: the test itself, or the
// published clients that it starts. What must never leave the Worker is then looked for in all of them. Node only.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface RecordedAnswer {
  /** Method and path with query, as asked. */
  asked: string;
  /** The request's body. */
  sent: string;
  status: number;
  headers: [name: string, value: string][];
  body: string;
}

export interface Recorder {
  /** Stands for the Worker's own URL, and survives the Worker's restarts. */
  url: string;
  /** Requests that came in, answered or not, as `METHOD /path`. */
  asked: readonly string[];
  answers: readonly RecordedAnswer[];
  stop(): Promise<void>;
}

/** Above every wait of the Worker. */
const ANSWER_TIMEOUT_MS = 60_000;

/** These belong to one connection or to the bytes as they were encoded, and fetch decodes them. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set(
  "host connection keep-alive transfer-encoding content-length content-encoding expect".split(" "),
);

export async function startRecorder(targetUrl: string): Promise<Recorder> {
  const asked: string[] = [];
  const answers: RecordedAnswer[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.split("?")[0]}`);
    forward(targetUrl, request, response).then(
      (answer) => answers.push(answer),
      // The Worker was killed: its caller's connection ends as it would without anything in between.
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answers,
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function forward(
  targetUrl: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<RecordedAnswer> {
  const { method = "GET", url = "/" } = request;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const answer = await fetch(targetUrl + url, {
    method,
    headers: passedOn(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    redirect: "manual",
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  });
  const body = Buffer.from(await answer.arrayBuffer());
  const headers = [...answer.headers];
  response.writeHead(answer.status, Object.fromEntries(passedOn(headers))).end(body);
  const sent = Buffer.concat(chunks).toString();
  return { asked: `${method} ${url}`, sent, status: answer.status, headers, body: body.toString() };
}

function passedOn(headers: [string, string][]): [string, string][] {
  return headers.filter(([name]) => !NOT_PASSED_ON.has(name));
}
