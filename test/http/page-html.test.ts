// The one escaping function of the pages, and what stands on it: whatever a seller writes stays text.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { breakable, escapeHtml, externalLink, html } from "../../src/http/page/html.ts";

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom("<", ">", "&", '"', "'", "/", "=", " ", "a", ";", "#", "\n", "`") }),
);

/** As a browser reads character references; knows no others, so nothing else may have been written. */
function read(markup: string): string {
  const known: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return markup.replaceAll(/&([^;]*);/g, (_, name: string) => known[name] ?? "UNKNOWN REFERENCE");
}

/** What escaping gives up on purpose. */
const TURNED = /(?![\t\n])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

describe("escaping", () => {
  it("leaves nothing that ends a text or a quoted attribute, and reads back as what it was", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const escaped = escapeHtml(text);
        expect(escaped).not.toMatch(/[<>"']/);
        expect(read(escaped)).toBe(text.replaceAll(TURNED, "\ufffd"));
      }),
      { numRuns: 2_000 },
    );
  });

  it("shows characters that turn the direction of the text around them, and half surrogates, as the replacement", () => {
    expect(escapeHtml("evil\u202egnp.exe\u2066\u0000\u001b[31m")).toBe(
      "evil\ufffdgnp.exe\ufffd\ufffd\ufffd[31m",
    );
    expect(escapeHtml("\ud800x")).toBe("\ufffdx");
    expect(escapeHtml("👩‍🚀 café, שלום\n\ttab")).toBe("👩‍🚀 café, שלום\n\ttab");
  });
});

describe("the template", () => {
  it("escapes every value in text and in attributes, and its own parts once", () => {
    fc.assert(
      fc.property(anyText, anyText, (text, value) => {
        const inner = html`<b title="${value}">${text}</b>`;
        expect(inner.text).toBe(`<b title="${escapeHtml(value)}">${escapeHtml(text)}</b>`);
        expect(html`<p>${inner}</p>`.text).toBe(`<p>${inner.text}</p>`);
      }),
    );
  });

  it("takes lists, numbers and nothing; an object that looks like markup is no markup", () => {
    expect(html`${[1, html`<i>`, "<i>"]}${null}${undefined}${false}`.text).toBe("1<i>&lt;i&gt;");
    const forged = JSON.parse('{"text":"<script>"}');
    expect(() => html`${forged}`.text).toThrow();
  });

  it("breaks names after dots and slashes without changing them", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(breakable(text).text.replaceAll("<wbr>", "")).toBe(escapeHtml(text));
      }),
    );
  });
});

describe("links to sellers", () => {
  it("lead to http and https only, say what they are, and stay text otherwise", () => {
    expect(externalLink("https://a.test/?a=1&b='2'", "a & b").text).toBe(
      '<a href="https://a.test/?a=1&amp;b=&#39;2&#39;" rel="nofollow ugc noopener">a &amp; b</a>',
    );
    for (const url of [
      "javascript:alert(1)",
      " javascript:alert(1)",
      "java\nscript:alert(1)",
      "data:text/html,x",
      "vbscript:x",
      "mcp://x",
      "//evil.test",
      "/x",
      "",
      "https://",
    ]) {
      expect(externalLink(url, "label").text, url).toBe("label");
    }
  });
});
