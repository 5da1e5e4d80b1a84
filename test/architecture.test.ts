// The house keeps its import directions (docs/decisions/0001-house.md): features never import each other, nobody
// imports the entry, only the face imports features, platform imports nothing of ours, config alone reads env.

import { readdirSync, readFileSync } from "node:fs";
import { join, normalize, relative } from "node:path";
import { expect, it } from "vitest";

const ALLOWED: Record<string, string[]> = {
  index: ["config", "db", "http", "payments", "bazaar", "gateway", "platform"],
  http: ["config", "db", "payments", "bazaar", "gateway", "platform"],
  payments: ["config", "platform"],
  bazaar: ["config", "db", "platform"],
  gateway: ["config", "db", "platform"],
  config: ["payments", "gateway", "platform"],
  db: [],
  platform: [],
  sdk: ["payments", "gateway", "platform"],
};

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);
const areaOf = (file: string) => file.split("/")[0]?.replace(/\.ts$/, "") ?? "";

it.each(files)("src/%s imports only what its area may", (file) => {
  const source = readFileSync(join("src", file), "utf8");
  for (const [, target = ""] of source.matchAll(/from\s+"(\.[^"]+)"/g)) {
    const imported = areaOf(relative("src", normalize(join("src", file, "..", target))));
    if (imported !== areaOf(file))
      expect(ALLOWED[areaOf(file)], `${file} imports ${target}`).toContain(imported);
  }
});

const isPure = (file: string) =>
  /^(payments|bazaar|gateway)\//.test(file) &&
  !/-(object|store)\.ts$/.test(file) &&
  !/^\/\/.*\bowns\b/m.test(readFileSync(join("src", file), "utf8"));

it.each(files.filter(isPure))("src/%s is pure: no fetch, clock, random or storage", (file) => {
  const source = readFileSync(join("src", file), "utf8").replaceAll(/\/\/.*|\/\*[\s\S]*?\*\//g, "");
  expect(source).not.toMatch(/\bfetch\(|Date\.now\(|new Date\(\)|Math\.random|getRandomValues|\benv\./);
});

// A promise belongs to the request that made it. Another request that waits for it hangs for ever when that one ends first:
// what an isolate remembers are values.
it.each(files.filter((file) => !file.startsWith("sdk/")))(
  "src/%s remembers no promise for other requests",
  (file) => {
    const source = readFileSync(join("src", file), "utf8");
    expect(source).not.toMatch(/^(export )?(const|let) \w+(: | = new )(Weak)?(Map|Set)?<?[^=;(]*Promise</m);
  },
);
