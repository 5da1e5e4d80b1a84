// The chart in the README: four pairs of bars, Souk's and the reference's. Pure: results in, SVG out.

import type { Results } from "./run.ts";
import { find } from "./targets.ts";

interface Panel {
  title: string;
  unit: string;
  souk: number;
  reference: number;
}

const WIDTH = 720;
const PANEL_HEIGHT = 92;
const TITLE_HEIGHT = 30;
const BAR_LEFT = 92;
const BAR_HEIGHT = 20;
/** Leaves room for the figure behind the longest bar. */
const BAR_LENGTH_MAX = 500;

/** Colours that can be told apart on white, on black and by people who see no red; text takes the page's own. */
const STYLE = `text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600}
.souk{fill:#0969da}.reference{fill:#8c959f}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.souk{fill:#4493f8}.reference{fill:#7d8590}}`;

/** @throws Error when the results hold no verify and settle figures. */
export function drawChart(results: Results): string {
  const panels = panelsOf(results);
  const height = panels.length * PANEL_HEIGHT;
  const label = "Souk and the reference facilitator: verify and settle";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">`,
    `<style>${STYLE}</style>`,
    ...panels.map(drawPanel),
    "</svg>\n",
  ].join("\n");
}

function panelsOf({ verify, settle }: Results): Panel[] {
  const verified = (contestant: string, delayMs: number, callers: number, withBlock: boolean) => {
    const row = find(verify?.figures ?? [], contestant, delayMs, callers, withBlock);
    if (!row) throw new Error("there is no such verify figure");
    return row;
  };
  const rate = (title: string, withBlock: boolean): Panel => ({
    title,
    unit: "per second",
    souk: verified("souk", 0, 32, withBlock).perSecond,
    reference: verified("reference", 0, 32, withBlock).perSecond,
  });
  const settled = (contestant: string) => {
    const isWanted = (row: NonNullable<Results["settle"]>[number]) =>
      row.contestant === contestant && row.concurrency === 200 && row.blockTimeSeconds !== null;
    const row = settle?.find(isWanted);
    if (!row) throw new Error("there is no such settle figure");
    return row;
  };
  return [
    rate("Verify, more is better", false),
    rate("Verify with a bazaar block, more is better", true),
    {
      title: "Verify over a node 20 ms away, median, less is better",
      unit: "ms",
      souk: verified("souk", 20, 4, false).ms.p50,
      reference: verified("reference", 20, 4, false).ms.p50,
    },
    {
      title: "Settle, 200 at a time on 2 s blocks, 99th percentile, less is better",
      unit: "s",
      souk: settled("souk").ms.p99 / 1_000,
      reference: settled("reference").ms.p99 / 1_000,
    },
  ];
}

function drawPanel({ title, unit, souk, reference }: Panel, index: number): string {
  const top = index * PANEL_HEIGHT;
  const scale = BAR_LENGTH_MAX / Math.max(souk, reference);
  const bar = (name: "souk" | "reference", words: string, value: number, row: number) => {
    const y = top + TITLE_HEIGHT + row * (BAR_HEIGHT + 6);
    const length = Math.max(1, Math.round(value * scale));
    const figure = value >= 100 ? Math.round(value) : Math.round(value * 10) / 10;
    return [
      `<text x="0" y="${y + 15}">${words}</text>`,
      `<rect class="${name}" x="${BAR_LEFT}" y="${y}" width="${length}" height="${BAR_HEIGHT}" rx="2"/>`,
      `<text x="${BAR_LEFT + length + 8}" y="${y + 15}">${figure} ${unit}</text>`,
    ].join("");
  };
  const heading = `<text class="title" x="0" y="${top + 18}">${title}</text>`;
  return `${heading}${bar("souk", "Souk", souk, 0)}${bar("reference", "reference", reference, 1)}`;
}
