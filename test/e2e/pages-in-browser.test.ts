// The pages in headless Chromium: on a phone and on a desk, light and dark, with and without JavaScript, by keyboard.
// Skipped with one line where there is no Chromium.

import { execFileSync } from "node:child_process";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium, startBrowser } from "../support/browser.ts";
import { HOSTILE, type PageCatalog, startPageCatalog } from "../support/page-catalog.ts";

const chromium = findChromium();
const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 900 };

describe.skipIf(chromium === undefined)("in Chromium", () => {
  let catalog: PageCatalog;
  let browser: Browser;
  beforeAll(async () => {
    [catalog, browser] = await Promise.all([startPageCatalog(), startBrowser(chromium ?? "")]);
  });
  afterAll(() => Promise.all([browser?.close(), catalog?.stop()]));

  /** A page that fails its test on any request elsewhere, any error and any dialog. */
  async function withPage(
    options: BrowserContextOptions,
    look: (page: Page) => Promise<void>,
  ): Promise<void> {
    const context = await browser.newContext({ baseURL: catalog.world.url, viewport: DESK, ...options });
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    const trouble: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(catalog.world.url)) trouble.push(`asked ${request.url()}`);
    });
    page.on("console", (message) => {
      const isExpected = /status of 4\d\d/.test(message.text());
      if (message.type() === "error" && !isExpected) trouble.push(message.text());
    });
    page.on("pageerror", (error) => trouble.push(error.message));
    page.on("dialog", (dialog) => {
      trouble.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    try {
      await look(page);
      expect(trouble).toEqual([]);
    } finally {
      await context.close();
    }
  }

  const allPages = () => [
    "/",
    "/?query=weather",
    "/?query=xylophone+repair&maxUsdPrice=0.1",
    "/?maxUsdPrice=cheap",
    ...Object.values(catalog.ids).map((id) => `/listings/${id}`),
    "/listings/lst_unknown",
    "/providers/0x00000000000000000000000000000000000000a1",
  ];

  it("is searched, filtered and read without JavaScript", () =>
    withPage({ javaScriptEnabled: false, viewport: PHONE }, async (page) => {
      await page.goto("/");
      await page.getByLabel("What do you need?").fill("convert units");
      await page.getByLabel("Kind").selectOption("MCP tools");
      await page.getByLabel("At most, in dollars").fill("0.01");
      await page.getByRole("main").getByRole("button", { name: "Search" }).click();
      await page.getByRole("heading", { name: "Results for “convert units”" }).waitFor();
      await page.getByRole("link", { name: "Unit Desk" }).click();
      await page.getByRole("heading", { level: 1, name: "Unit Desk" }).waitFor();
      expect(await page.getByRole("region", { name: "Request" }).textContent()).toContain(
        "'http://127.0.0.1:",
      );
      expect(await page.getByRole("button", { name: "Copy" }).count()).toBe(0);
    }));

  it("lifts one filter at a time", () =>
    withPage({}, async (page) => {
      await page.goto("/?query=weather&type=mcp&maxUsdPrice=1");
      await page.getByText("Nothing here fits well enough.").waitFor();
      await page.getByRole("link", { name: "Remove filter MCP tools" }).click();
      await page.getByRole("link", { name: "Northwind Weather" }).waitFor();
      expect(new URL(page.url()).search).toBe("?query=weather&maxUsdPrice=1");
    }));

  it("copies the request as it stands, and a shell reads it as the words that were meant", () =>
    withPage({ permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
      await page.goto(`/listings/${catalog.ids.translation}`);
      await page.getByRole("button", { name: "Copy Request" }).click();
      await page.getByText("Copied").waitFor();
      const copied = await page.evaluate("navigator.clipboard.readText()");
      expect(copied).toBe(await page.locator("#command").textContent());
      const script = `curl() { printf '%s\\n' "$@"; }\n${copied}\n`;
      const words = execFileSync("/bin/sh", { input: script, encoding: "utf8" }).split("\n");
      expect(words).toContain(`{"text":"it's a good $(morning)","to":"no"}`);
      expect(words.slice(0, 4)).toEqual(["--globoff", "--include", "--request", "POST"]);
    }));

  it("shows a hostile seller's text as text: no element, no request, no script of it", () =>
    withPage({}, async (page) => {
      for (const path of [`/listings/${catalog.ids.hostile}`, "/?query=rainmaker"]) {
        await page.goto(path);
        await page.getByText(HOSTILE.description).waitFor();
        for (const tag of HOSTILE.tags) expect(await page.getByRole("link", { name: tag }).count()).toBe(1);
        expect(await page.locator("img, iframe, b, i, script:not([src='/copy.js'])").count()).toBe(0);
      }
      const tag = page.getByRole("link", { name: "javascript:alert(3)" });
      await tag.click();
      await page.getByRole("heading", { name: "Tagged “javascript:alert(3)”" }).waitFor();
    }));

  it("fits a phone: nothing is wider than the screen, on any page", () =>
    withPage({ viewport: { width: 320, height: 640 } }, async (page) => {
      for (const path of allPages()) {
        await page.goto(path);
        const widths = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]");
        expect(widths, path).toEqual([320, 320]);
      }
    }));

  it.each(["light", "dark"] as const)("can be read in %s: every text has contrast", (colorScheme) =>
    withPage({ colorScheme }, async (page) => {
      for (const path of allPages()) {
        await page.goto(path);
        expect(await page.evaluate(FAINT_TEXTS), path).toEqual([]);
      }
    }),
  );

  it("has landmarks, one heading of the first level, and a name for every control", () =>
    withPage({}, async (page) => {
      for (const path of allPages()) {
        await page.goto(path);
        for (const role of ["banner", "main", "contentinfo", "search"] as const) {
          expect(await page.getByRole(role).count(), `${path} ${role}`).toBe(1);
        }
        expect(await page.getByRole("heading", { level: 1 }).count(), path).toBe(1);
        expect(await page.evaluate(UNNAMED_CONTROLS), path).toEqual([]);
        expect(await page.evaluate(DOUBLE_IDS), path).toEqual([]);
        expect(await page.evaluate("document.documentElement.lang")).toBe("en");
      }
    }));

  it("is walked by keyboard: first past the header, and what has the focus shows it", () =>
    withPage({}, async (page) => {
      await page.goto(`/listings/${catalog.ids.weather}`);
      await page.keyboard.press("Tab");
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
      await page.keyboard.press("Enter");
      expect(new URL(page.url()).hash).toBe("#main");
      for (let i = 0; i < 8; i++) {
        await page.keyboard.press("Tab");
        const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
        expect(outline, `stop ${i}`).toBe("solid");
      }
    }));
});

// What is evaluated in the page, as text: these files know no DOM.

/** Texts whose contrast to what is behind them is below WCAG AA. */
const FAINT_TEXTS = `(() => {
  const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const channel = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const faint = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const element = text.parentElement;
    if (text.textContent.trim() === "" || element.getClientRects().length === 0) continue;
    const style = getComputedStyle(element);
    const [light, dark] = [luminance(parse(style.color)), luminance(behind(element))].sort((a, b) => b - a);
    const size = Number.parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 600);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < (isLarge ? 3 : 4.5)) faint.push(text.textContent.trim().slice(0, 40) + " " + contrast.toFixed(2));
  }
  return faint;
})()`;

const UNNAMED_CONTROLS = `[...document.querySelectorAll("input, select, button, a, [role=region], nav")]
  .filter((element) => {
    const labelled = element.getAttribute("aria-labelledby");
    const name = element.getAttribute("aria-label") ?? (labelled && document.getElementById(labelled)?.textContent)
      ?? (element.labels?.length ? element.labels[0].textContent : element.textContent);
    return name.trim() === "";
  })
  .map((element) => element.outerHTML.slice(0, 100))`;

const DOUBLE_IDS = `(() => {
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  return ids.filter((id, i) => ids.indexOf(id) !== i);
})()`;
