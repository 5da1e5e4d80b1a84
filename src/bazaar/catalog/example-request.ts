// The request that a buyer would send to a listed resource, made of the seller's own example: without payment, so that
// its answer is the 402 that says how to pay. Pure. Only a description: nothing here is ever sent by us.

import { isRecord } from "../block/block-rules.ts";
import { inputOf } from "./declared-inputs.ts";
import type { Resource } from "./resource.ts";

export interface ExampleRequest {
  method: string;
  /** http or https. */
  url: string;
  headers: Record<string, string>;
  body:
    | { kind: "none" }
    /** The seller's example is longer than `MAX_BODY_CHARACTERS`. */
    | { kind: "left_out" }
    | { kind: "text"; text: string }
    | { kind: "form"; fields: [name: string, value: string][] };
}

/** What fits on a page and into an agent's context; longer examples are left out, not cut: half of a JSON is none. */
export const MAX_BODY_CHARACTERS = 4_000;

/** Undefined where no HTTP request reaches it: `mcp:` URLs, and tools over server-sent events. */
export function exampleRequest(resource: Resource): ExampleRequest | undefined {
  const input = inputOf(resource);
  const target = resource.exampleUrl ?? resource.resource;
  if (!isHttpUrl(target)) return undefined;
  if (resource.type === "mcp") return toolCall(target, resource, input);
  const request = {
    method: resource.method ?? "GET",
    url: withQuery(target, input.queryParams),
    headers: {},
  };
  return { ...request, ...bodyOf(input) };
}

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function toolCall(
  url: string,
  resource: Resource,
  input: Record<string, unknown>,
): ExampleRequest | undefined {
  if (input.transport === "sse" || resource.toolName === undefined) return undefined;
  const call = { name: resource.toolName, arguments: isRecord(input.example) ? input.example : {} };
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const text = plainJson({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call });
  return { method: "POST", url, headers, body: bounded(text) };
}

function bodyOf({ bodyType, body }: Record<string, unknown>): Pick<ExampleRequest, "headers" | "body"> {
  if (body === undefined) return { headers: {}, body: { kind: "none" } };
  if (bodyType === "form-data" && isRecord(body)) {
    const fields = Object.entries(body).map(([name, value]): [string, string] => [
      withoutControls(name),
      withoutControls(textOf(value)),
    ]);
    const length = fields.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    return {
      headers: {},
      body: length > MAX_BODY_CHARACTERS ? { kind: "left_out" } : { kind: "form", fields },
    };
  }
  if (bodyType === "json") {
    return { headers: { "content-type": "application/json" }, body: bounded(plainJson(body)) };
  }
  return { headers: { "content-type": "text/plain" }, body: bounded(withoutControls(textOf(body))) };
}

function bounded(text: string): ExampleRequest["body"] {
  return text.length > MAX_BODY_CHARACTERS ? { kind: "left_out" } : { kind: "text", text };
}

function withQuery(target: string, queryParams: unknown): string {
  const url = new URL(target);
  for (const [name, value] of Object.entries(isRecord(queryParams) ? queryParams : {})) {
    for (const each of Array.isArray(value) ? value : [value]) url.searchParams.append(name, textOf(each));
  }
  return url.href;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What a terminal might obey, or a reader not see, when the text is pasted. Line breaks and tabs are ordinary. */
const INVISIBLE = /(?![\t\n])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

/** JSON in which nothing is invisible: the same value, with such characters spelled as `\u` escapes. */
function plainJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(INVISIBLE, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

function withoutControls(text: string): string {
  return text.toWellFormed().replaceAll(INVISIBLE, "");
}
