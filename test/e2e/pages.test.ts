// The pages of the built bundle, as they are sent: headers, markup, filters, paging, and what a seller's text may not do.
// How they look and behave in a browser is pages-in-browser.test.ts.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  FEEDS,
  HOSTILE,
  type PageCatalog,
  startPageCatalog,
  WEATHER_SELLER,
} from "../support/page-catalog.ts";

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const PAGE_SIZE = 20;

let catalog: PageCatalog;
beforeAll(async () => {
  catalog = await startPageCatalog();
});
afterAll(() => catalog?.stop());

async function get(path: string): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await fetch(catalog.world.url + path, { redirect: "manual" });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const allPages = () => [
  "/",
  "/?query=weather",
  "/?query=xylophone+repair",
  "/?maxUsdPrice=cheap",
  "/?offset=20",
  ...Object.values(catalog.ids).map((id) => `/listings/${id}`),
  "/listings/lst_unknown",
  `/providers/${WEATHER_SELLER}`,
  "/providers/0x00000000000000000000000000000000000000ff",
  "/providers/nobody",
  "/?query=weather&cursor=AAAA",
];

/** The listings on a page, in order. */
const listedOn = (text: string) => [...text.matchAll(/href="\/listings\/(lst_\w+)"/g)].map(([, id]) => id);
const linkTo = (text: string, rel: "next" | "prev") =>
  new RegExp(`rel="${rel}" href="([^"]+)"`).exec(text)?.[1]?.replaceAll("&amp;", "&");

it("sends every page under the strict policy, without inline script, style or handlers, and with nothing from other hosts", async () => {
  for (const path of allPages()) {
    const { headers, text } = await get(path);
    expect(headers.get("content-type"), path).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy"), path).toBe(POLICY);
    expect(headers.get("referrer-policy"), path).toBe("no-referrer");
    expect(headers.get("x-content-type-options"), path).toBe("nosniff");
    const tags = text.match(/<[a-z!/][^>]*>/g) ?? [];
    expect(
      tags.filter((tag) => /^<script/.test(tag)),
      path,
    ).toEqual(['<script src="/copy.js" defer>']);
    expect(
      tags.filter((tag) => /\s(style|on\w+)\s*=/i.test(tag.replaceAll(/"[^"]*"/g, '""'))),
      path,
    ).toEqual([]);
    expect(
      tags.filter((tag) => /^<(style|img|iframe|object|embed|base|svg|i|b)[\s>]/i.test(tag)),
      path,
    ).toEqual([]);
    const loaded = tags.flatMap((tag) => /<(?:script|link)[^>]*(?:src|href)="([^"]*)"/.exec(tag)?.[1] ?? []);
    expect(
      loaded.every((url) => url.startsWith("/") && !url.startsWith("//")),
      path,
    ).toBe(true);
  }
});

it("links to sellers only by http(s) and says that it does not vouch for them", async () => {
  for (const path of allPages()) {
    const { text } = await get(path);
    const outside = (text.match(/<a [^>]*>/g) ?? []).filter((tag) => !/href="[/#](?!\/)/.test(tag));
    for (const tag of outside)
      expect(tag, path).toMatch(/^<a href="https?:\/\/[^"]+" rel="nofollow ugc noopener">$/);
  }
});

it("answers HEAD, styles and scripts; keeps their files to those that pages load", async () => {
  const head = await fetch(catalog.world.url, { method: "HEAD" });
  expect([head.status, await head.text(), head.headers.get("content-security-policy")]).toEqual([
    200,
    "",
    POLICY,
  ]);
  for (const [path, type] of [
    ["/style.css", "text/css"],
    ["/copy.js", "text/javascript"],
    ["/icon.svg", "image/svg+xml"],
  ] as const) {
    const { status, headers } = await get(path);
    expect([status, headers.get("content-type")?.split(";")[0]]).toEqual([200, type]);
    const again = await fetch(catalog.world.url + path, {
      headers: { "if-none-match": headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
  }
  for (const path of ["/.assetsignore", "/index.html", "/style.css/x"]) {
    expect((await get(path)).status, path).toBe(404);
  }
});

describe("what is not there", () => {
  it("is a page with the status of what went wrong, and a way on", async () => {
    for (const [path, status] of [
      ["/listings/lst_unknown", 404],
      ["/listings/%3Cscript%3E", 404],
      ["/providers/nobody", 404],
      ["/?offset=-1", 400],
      ["/?query=a&query=b", 400],
      ["/?query=weather&cursor=AAAA", 400],
      ["/?network=!!!", 400],
      ["/?maxUsdPrice=cheap", 400],
      [`/?query=${"a".repeat(401)}`, 400],
      ["/providers/0x00000000000000000000000000000000000000ff", 200],
    ] as const) {
      const answer = await get(path);
      expect(answer.status, path).toBe(status);
      expect(answer.text, path).toContain('href="/"');
      expect(answer.text, path).not.toContain("<script>");
    }
  });

  it("keeps what was typed and says beside the field what is wrong", async () => {
    const { text } = await get("/?query=sea+%22food%22&maxUsdPrice=cheap&tag=fish");
    expect(text).toContain('value="sea &quot;food&quot;"');
    expect(text).toMatch(
      /id="maxUsdPrice"[^>]*value="cheap"[^>]*aria-invalid="true" aria-describedby="maxUsdPrice-problem"/,
    );
    expect(text).toMatch(/id="maxUsdPrice-problem">Dollars as a number/);
    expect(text).not.toContain('aria-describedby="tag-problem"');
  });
});

describe("filters and paging", () => {
  it("takes a form as a browser sends it, empty fields and all", async () => {
    const { weather, tool } = catalog.ids;
    const form = (changes: Record<string, string>) =>
      `/?${new URLSearchParams({ query: "", type: "", network: "", maxUsdPrice: "", tag: "", ...changes })}`;
    expect(listedOn((await get(form({ query: "weather forecast" }))).text)[0]).toBe(weather);
    expect(listedOn((await get(form({ type: "mcp" }))).text)).toEqual([tool]);
    expect(listedOn((await get(form({ tag: "WEATHER" }))).text)).toEqual([weather]);
    expect(listedOn((await get(form({ maxUsdPrice: " $0.0015 " }))).text)).toContain(tool);
    expect(listedOn((await get(form({ maxUsdPrice: "0.0006" }))).text)).toEqual([]);
    expect(listedOn((await get(form({ network: "eip155:1" }))).text)).toEqual([]);
    expect((await get(form({ network: "eip155:1" }))).text).toContain('<option value="eip155:1" selected>');
  });

  it("walks the list by offset there and back, each listing once", async () => {
    const first = await get("/");
    const second = await get(linkTo(first.text, "next") ?? "");
    expect(listedOn(first.text)).toHaveLength(PAGE_SIZE);
    const all = [...listedOn(first.text), ...listedOn(second.text)];
    expect(new Set(all).size).toBe(FEEDS + 6);
    expect(linkTo(second.text, "next")).toBeUndefined();
    expect(linkTo(second.text, "prev")).toBe("/");
  });

  it("walks a search by cursor with its filters, each listing once", async () => {
    const first = await get("/?query=market+data&maxUsdPrice=0.0168");
    const second = await get(linkTo(first.text, "next") ?? "");
    const all = [...listedOn(first.text), ...listedOn(second.text)];
    expect(listedOn(first.text)).toHaveLength(PAGE_SIZE);
    expect(new Set(all).size).toBe(24);
    expect(all).toHaveLength(24);
    expect(linkTo(second.text, "prev")).toBe("/?query=market+data&maxUsdPrice=0.0168");
  });
});

describe("a listing", () => {
  it("shows a seller's name once its own server has confirmed it, with price, inputs, offers and proof", async () => {
    const { text } = await get(`/listings/${catalog.ids.weather}`);
    expect(text).toContain("<h1>Northwind Weather</h1>");
    expect(text).toContain("<strong>$0.01</strong>");
    expect(text).toMatch(/Confirmed <time datetime="[^"]+Z"/);
    expect(text).toMatch(
      /<code>city<\/code> <span class="required">required<\/span><p class="field-words">Name of a city/,
    );
    expect(text).toContain("one of &quot;metric&quot;, &quot;imperial&quot;");
    expect(text).toContain(`href="/providers/${WEATHER_SELLER}"`);
    expect(text).toContain("&quot;celsius&quot;: 7");
    expect(text).not.toContain("Nobody has confirmed");
  });

  it("says so when nobody confirmed it, and is called by its host, whatever it calls itself", async () => {
    const { text } = await get(`/listings/${catalog.ids.hostile}`);
    expect(text.replaceAll("<wbr>", "")).toContain(`<h1>${HOSTILE.host}</h1>`);
    expect(text).toContain("Nobody has confirmed this listing.");
    expect(text).toContain("Calls itself <q>Souk&quot;&gt;&lt;b&gt;Official&lt;/b&gt;</q>");
    const list = (await get("/?query=rainmaker")).text.replaceAll("<wbr>", "");
    expect(list).toContain(`>${HOSTILE.host}</a></h3>`);
    expect(list).toContain("Unconfirmed");
  });

  it("shows a template's parameters and a ceiling, and no dollars where nobody knows the token", async () => {
    const parcel = (await get(`/listings/${catalog.ids.parcel}`)).text;
    expect(parcel).toMatch(/<code>userId<\/code>[\s\S]*<code>parcel<\/code>/);
    expect(parcel).toContain("up to");
    expect(parcel).toContain("/v2/users/42/parcels/7");
    const unpriced = (await get(`/listings/${catalog.ids.unpriced}`)).text;
    expect(unpriced).toContain("<strong>77 atomic units</strong>");
    expect(unpriced).not.toMatch(/\$\d/);
  });

  it("lists a provider's offers under its address", async () => {
    const { text } = await get(`/providers/${WEATHER_SELLER}`);
    expect(listedOn(text)).toEqual([catalog.ids.weather]);
    expect(text).toContain(`<code>${WEATHER_SELLER}</code>`);
  });
});
