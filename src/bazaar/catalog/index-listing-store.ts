// Keeps the search index at the listings' text. A listing is due while the hash of what was indexed differs from its
// text's: so a crash between catalog and index, or two writers at once, is healed by whoever comes next. The index's
// words and rules are loaded with the first listing, because every start would wait for them.

import type { IndexedListing } from "../search/search-port.ts";

const DUE = `SELECT id, row_id, type, resource, host, route_template, method, tool_name, service_name, tags, description,
    bazaar, text_hash
  FROM listings WHERE indexed_hash IS NOT text_hash`;

const SQL = {
  due: `${DUE} AND id = ?1`,
  anyDue: `${DUE} LIMIT ?1`,
  done: "UPDATE listings SET indexed_hash = ?2 WHERE id = ?1",
};

interface Row {
  id: string;
  row_id: number;
  type: "http" | "mcp";
  resource: string;
  host: string;
  route_template: string | null;
  method: string | null;
  tool_name: string | null;
  service_name: string | null;
  tags: string;
  description: string | null;
  bazaar: string;
  text_hash: string;
}

/** A writer that overtook us made the text newer again; more rounds than writers are never needed. */
const MAX_ROUNDS = 5;

/** Brings the index to this listing's text. Costs one read when nothing changed. */
export async function indexListing(db: D1Database, listingId: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const row = await db.prepare(SQL.due).bind(listingId).first<Row>();
    if (!row) return;
    await db.batch(await statementsFor(db, [row]));
  }
}

/** A Worker may ask D1 a thousand times per run, and holds the rows of one chunk in memory. */
const CHUNK = 50;

/** Indexes listings that were left behind, or are due by a rebuild; returns how many, at most `limit`. */
export async function indexLeftBehind(db: D1Database, limit: number): Promise<number> {
  let indexed = 0;
  while (indexed < limit) {
    const { results } = await db
      .prepare(SQL.anyDue)
      .bind(Math.min(CHUNK, limit - indexed))
      .all<Row>();
    if (results.length === 0) break;
    await db.batch(await statementsFor(db, results));
    indexed += results.length;
  }
  return indexed;
}

async function statementsFor(db: D1Database, rows: readonly Row[]): Promise<D1PreparedStatement[]> {
  const { indexStatements } = await import("../search/search-store.ts");
  return rows.flatMap((row) => [
    ...indexStatements(db, indexedListing(row)),
    db.prepare(SQL.done).bind(row.id, row.text_hash),
  ]);
}

function indexedListing(row: Row): IndexedListing {
  return {
    rowId: row.row_id,
    type: row.type,
    resource: row.resource,
    host: row.host,
    routeTemplate: row.route_template,
    method: row.method,
    toolName: row.tool_name,
    serviceName: row.service_name,
    tags: JSON.parse(row.tags) as string[],
    description: row.description,
    bazaar: JSON.parse(row.bazaar) as unknown,
  };
}
