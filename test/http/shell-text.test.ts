// The request to copy, given to real shells: whatever a seller wrote, `curl` gets exactly the words that were meant, and
// nothing else is run.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ExampleRequest, exampleRequest } from "../../src/bazaar/catalog/example-request.ts";
import type { Resource } from "../../src/bazaar/catalog/resource.ts";
import { curlCommand, quoteForShell } from "../../src/http/page/shell-text.ts";

const SHELLS = ["/bin/sh", "/bin/bash"].filter((path) => existsSync(path));

const nasty = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom("'", '"', "\\", "$", "`", "!", "\n", ";", "&", "(", ")", " ", "-", "@", "{", "}"),
  }),
  fc.constantFrom(
    "$(touch /tmp/pwned)",
    "'; touch /tmp/pwned; '",
    "@/etc/passwd",
    "-o/tmp/pwned",
    "\u001b[201~rm -rf .",
  ),
);

function run(shell: string, script: string, args: string[] = []): string {
  return execFileSync(shell, args, { input: script, encoding: "utf8", timeout: 20_000 });
}

/** What `curl` is called with; shells the arguments, each ended by NUL. */
function wordsOf(shell: string, command: string): string[] {
  return run(shell, `curl() { printf '%s\\0' "$@"; }\n${command}\n`).split("\0").slice(0, -1);
}

it.each(SHELLS)("%s reads each quoted text back as one word, byte for byte", (shell) => {
  fc.assert(
    fc.property(fc.array(nasty, { minLength: 20, maxLength: 60 }), (texts) => {
      const script = texts.map((text) => `printf '%s\\0' ${quoteForShell(text)}`).join("\n");
      run(shell, script, ["-n"]);
      expect(run(shell, script).split("\0").slice(0, -1)).toEqual(
        texts.map((text) => text.replaceAll("\0", "")),
      );
    }),
    { numRuns: 25 },
  );
});

describe.each(SHELLS)("a request as a command of %s", (shell) => {
  it("calls curl once, with the words of the request and no others", () => {
    const body = fc.oneof(
      fc.constant<ExampleRequest["body"]>({ kind: "none" }),
      nasty.map((text): ExampleRequest["body"] => ({ kind: "text", text })),
      fc
        .array(fc.tuple(nasty, nasty), { maxLength: 4 })
        .map((fields): ExampleRequest["body"] => ({ kind: "form", fields })),
    );
    const request = fc.record({
      method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE"),
      url: nasty.map((path) => new URL(`/of/${path}`, "https://api.shop.test").href),
      headers: fc.dictionary(fc.constantFrom("content-type", "accept"), nasty),
      body,
    });
    fc.assert(
      fc.property(request, (value) => {
        const plain = (text: string) => text.replaceAll("\0", "");
        expect(wordsOf(shell, curlCommand(value))).toEqual([
          "--globoff",
          "--include",
          ...(value.method === "GET" ? [] : ["--request", value.method]),
          ...Object.entries(value.headers).flatMap(([name, text]) => ["--header", plain(`${name}: ${text}`)]),
          ...(value.body.kind === "text" ? ["--data-raw", plain(value.body.text)] : []),
          ...(value.body.kind === "form"
            ? value.body.fields.flatMap(([name, text]) => ["--form-string", plain(`${name}=${text}`)])
            : []),
          value.url,
        ]);
      }),
      { numRuns: 60 },
    );
  });

  it("asks for the head only where the listing says HEAD", () => {
    const request = { method: "HEAD", url: "https://a.test/", headers: {}, body: { kind: "none" } } as const;
    expect(wordsOf(shell, curlCommand(request))).toEqual(["--globoff", "--head", "https://a.test/"]);
  });
});

describe("the request of a listing", () => {
  function aResource(input: Record<string, unknown>, changes: Partial<Resource> = {}): Resource {
    return {
      id: "lst_1",
      resource: "https://api.shop.test/a",
      type: "http",
      method: "GET",
      x402Version: 2,
      accepts: [],
      lastUpdated: "2026-01-01T00:00:00.000Z",
      extensions: { bazaar: { info: { input } } },
      quality: { l30DaysTotalCalls: 0, l30DaysUniquePayers: 0, health: "unprobed" },
      ...changes,
    };
  }

  it("holds nothing invisible and keeps the value of a JSON body", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), nasty, (value, text) => {
        const body = { value, text, evil: "a\u202eb\u200bc\u001b[31m\ud800" };
        const request = exampleRequest(aResource({ bodyType: "json", body }, { method: "POST" }));
        const sent = request?.body.kind === "text" ? request.body.text : "null";
        expect(sent).not.toMatch(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Cs}]/u);
        expect(JSON.parse(sent)).toEqual(JSON.parse(JSON.stringify(body)));
      }),
    );
  });

  it("puts the query into the URL, form fields apart, and text as text without controls", () => {
    const query = exampleRequest(
      aResource({ queryParams: { "a b": "ü&c", list: [1, "x"], deep: { y: 1 } } }),
    );
    expect(query?.url).toBe("https://api.shop.test/a?a+b=%C3%BC%26c&list=1&list=x&deep=%7B%22y%22%3A1%7D");
    const form = exampleRequest(
      aResource({ bodyType: "form-data", body: { file: "@/etc/passwd" } }, { method: "POST" }),
    );
    expect(form).toMatchObject({ headers: {}, body: { kind: "form", fields: [["file", "@/etc/passwd"]] } });
    const text = exampleRequest(
      aResource({ bodyType: "text", body: "a\u001b\u202eb\nc" }, { method: "PUT" }),
    );
    expect(text).toMatchObject({
      headers: { "content-type": "text/plain" },
      body: { kind: "text", text: "ab\nc" },
    });
  });

  it("leaves a body out that is too long, and knows tools that one request does not reach", () => {
    const long = aResource({ bodyType: "json", body: { text: "x".repeat(5_000) } }, { method: "POST" });
    expect(exampleRequest(long)?.body).toEqual({ kind: "left_out" });
    const tool: Partial<Resource> = { type: "mcp", toolName: "t", resource: "https://a.test/mcp" };
    expect(exampleRequest(aResource({ example: { a: 1 } }, tool))?.body).toEqual({
      kind: "text",
      text: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":1}}}',
    });
    expect(exampleRequest(aResource({ transport: "sse" }, tool))).toBeUndefined();
    expect(exampleRequest(aResource({}, { ...tool, resource: "mcp://a/b" }))).toBeUndefined();
  });
});
