// Brings a local D1 to the schema of migrations/, keeping count in the table that `wrangler d1 migrations apply`
// uses, so that either may go on where the other stopped.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { D1Database } from "@cloudflare/workers-types";
import { remembered } from "./remembered.ts";

const CREATE_TABLE =
  "CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";

/** Applies what is not applied yet, in the order of the file names, each file in one transaction. */
export async function applyMigrations(database: D1Database, folder: string): Promise<void> {
  await database.prepare(CREATE_TABLE).run();
  const { results } = await database.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = new Set(results.map((row) => row.name));
  const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));
  for (const file of files.sort()) {
    if (applied.has(file)) continue;
    const text = readFileSync(join(folder, file), "utf8");
    const statements = remembered("statements", text, (wrangler) => wrangler.unstable_splitSqlQuery(text));
    await database.batch([
      ...statements.map((statement) => database.prepare(statement)),
      database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(file),
    ]);
  }
}
