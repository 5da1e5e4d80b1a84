// The documents keep up: every variable, table, object class and queue is described, and continuous integration runs
// the command that the README gives.

import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const readme = readFileSync("README.md", "utf8");

it("describes every variable that the configuration reads", () => {
  const sources = ["src/config.ts", ...readdirSync("src/config").map((file) => `src/config/${file}`)];
  const config = sources.map((file) => readFileSync(file, "utf8")).join("\n");
  const bindings = /BINDINGS = \[([^\]]*)\]/.exec(config)?.[1] ?? "";
  const names = [...config.matchAll(/"([A-Z][A-Z0-9_]{3,})"/g)].map(([, name = ""]) => name);
  const variables = new Set(names.filter((name) => !bindings.includes(`"${name}"`)));
  for (const known of ["AUTH", "NETWORKS", "MAC_KEYS", "SETTLE_WAIT_SECONDS"])
    expect(variables).toContain(known);
  for (const name of variables) expect(readme, `${name} has no row`).toContain(`\`${name}\``);
});

it("has a word in docs/storage.md on every table, object class and queue", () => {
  const storage = readFileSync("docs/storage.md", "utf8");
  const sources = [
    ...readdirSync("migrations")
      .filter((file) => file.endsWith(".sql"))
      .map((file) => `migrations/${file}`),
    ...readdirSync("src", { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => `src/${file}`),
  ];
  const named = [
    ...sources.flatMap((file) =>
      [
        ...readFileSync(file, "utf8").matchAll(/CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?`?([a-z_]+)/g),
      ].map(([, table]) => table),
    ),
    ...[...readFileSync("wrangler.toml", "utf8").matchAll(/(?:class_name|queue) = "([^"]+)"/g)].map(
      ([, name]) => name,
    ),
  ].filter((name) => !/^(schema_)?version$/.test(name ?? ""));
  expect(named.length).toBeGreaterThan(20);
  for (const name of new Set(named)) expect(storage, `${name} is not described`).toContain(`\`${name}\``);
});

it("gives the test command that .ci/run runs", () => {
  const command = /\((npm ci && [^)]*)\)/.exec(readFileSync(".ci/run", "utf8"))?.[1] ?? "missing";
  expect(readme).toContain(`\n${command}\n`);
});
