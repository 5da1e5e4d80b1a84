// How the command-line tools ask a running Worker: the local world by default, or the one that SOUK_URL names. Node only.

import { OPERATOR_TOKEN } from "./local-variables.ts";

const TIMEOUT_MS = 30_000;

export interface Asked {
  body?: unknown;
  headers?: Record<string, string>;
  /** Instead of the operator's token. */
  token?: string;
}

/** @throws Error in the Worker's own words when it refuses. */
export async function ask(method: string, path: string, { body, headers = {}, token }: Asked = {}) {
  const url = process.env.SOUK_URL ?? localUrl();
  const response = await fetch(new URL(path, url), {
    method,
    headers: {
      authorization: `Bearer ${token ?? operatorToken(url)}`,
      "content-type": "application/json",
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new Error(`${url} does not answer`, { cause: error });
  });
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => ({}))) as { error?: { message?: string } };
  throw new Error(`${url} answered ${response.status}: ${error?.message ?? "no reason given"}`);
}

export function localUrl(): string {
  return `http://127.0.0.1:${process.env.SOUK_PORT ?? "8787"}`;
}

/** Runs a tool; what goes wrong is one line for a person. */
export async function runTool(tool: () => Promise<void>): Promise<void> {
  try {
    await tool();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

function operatorToken(url: string): string {
  const token = process.env.SOUK_ADMIN_TOKEN;
  if (token) return token;
  const { hostname } = new URL(url);
  if (hostname === "127.0.0.1" || hostname === "localhost" || hostname === "[::1]") return OPERATOR_TOKEN;
  throw new Error("SOUK_ADMIN_TOKEN is missing: the operator token of the Worker at SOUK_URL");
}
