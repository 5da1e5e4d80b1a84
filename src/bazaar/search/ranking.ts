// Which of the rows that match come first, and whether any does. Relevance (search-relevance.ts) times trust; a query
// that is a listing's name or host puts it on top; the fourth row of one payTo comes later. Pure; scores are integers.

import type { SearchQuery } from "./search-concepts.ts";
import type { SearchFields } from "./search-fields.ts";
import { namedBy, relevanceTo } from "./search-relevance.ts";

/** What the catalog knows of a listing's life. */
export interface TrustSignals {
  isConfirmed: boolean;
  payers30d: number;
  lastCalledMs: number;
  health: "ok" | "failing" | "unprobed";
}

export interface Candidate {
  rowId: number;
  fields: SearchFields;
  ownerPayTo: string;
  host: string;
  isStuffed: boolean;
  trust: TrustSignals;
}

export interface RankRequest {
  query: SearchQuery;
  nowMs: number;
  /** Rows of each payTo that earlier pages showed; null when one payTo was asked for. */
  shownPerPayTo: ReadonlyMap<string, number> | null;
  /** The first page must have a good match; later pages go on with what is left. */
  isFirstPage: boolean;
}

/**
 * Added to the score when the whole query is a name of the listing, as a share of what all its words together can be
 * worth. Enough for an exact name before a tag before a description; trust multiplies it too, so a stranger who takes
 * a common word for a name does not pass confirmed listings of that word.
 */
const NAMED = { host: 2, name: 1, tool: 0.5, tag: 0.25 } as const;

/** Keeps a stuffed listing below one that describes the thing, above what has half of the words. */
const STUFFED_SHARE = 0.4;

/** Rows of one payTo that stand where they belong. */
const ROWS_IN_PLACE = 3;
/** Of the score, for each further one: less than the least trusted row has of the most trusted one's. */
const LATER_SHARE = 0.35;

/** Row ids, best first. Empty when nothing matches well. */
export function rank(request: RankRequest, candidates: readonly Candidate[]): number[] {
  const { query } = request;
  const relevance = relevanceTo(query);
  const allWords = query.concepts.reduce((sum, { rarity }) => sum + rarity, 0);
  let bestCoverage = 0;
  const scored: { row: Candidate; score: number }[] = [];
  for (const row of candidates) {
    const { score, coverage } = relevance(row.fields);
    const named = query.host !== undefined && row.host === query.host ? "host" : namedBy(query, row.fields);
    const isNamed = named === "host" || named === "name";
    if (query.form === "grammar" ? !isNamed : score === 0 && !named) continue;
    // A stuffed listing has a word for everything: that it matches says nothing.
    if (!row.isStuffed) bestCoverage = Math.max(bestCoverage, isNamed ? 1 : coverage);
    const honest = score * (row.isStuffed ? STUFFED_SHARE : 1) + (named ? NAMED[named] * allWords : 0);
    scored.push({ row, score: Math.round(honest * trustPermille(row.trust, request.nowMs)) });
  }
  if (request.isFirstPage && bestCoverage < neededCoverage(query)) return [];
  scored.sort(byScore);
  if (request.shownPerPayTo) {
    sendLater(scored, request.shownPerPayTo);
    scored.sort(byScore);
  }
  return scored.map(({ row }) => row.rowId);
}

type Scored = { row: Candidate; score: number };

function byScore(a: Scored, b: Scored): number {
  return b.score - a.score || b.row.rowId - a.row.rowId;
}

/** From the fourth row of one payTo on, by the order so far, rows are ranked later; none is left out. */
function sendLater(scored: Scored[], shownPerPayTo: ReadonlyMap<string, number>): void {
  const rows = new Map(shownPerPayTo);
  for (const entry of scored) {
    const before = rows.get(entry.row.ownerPayTo) ?? 0;
    rows.set(entry.row.ownerPayTo, before + 1);
    if (before >= ROWS_IN_PLACE) entry.score = Math.round(entry.score * LATER_SHARE);
  }
}

/**
 * The share of what was asked that the best row must have; below it nothing was found. One or two words must be met;
 * a sentence has words beside the point. Found on two labelled sets with 16 queries that have no answer.
 */
function neededCoverage({ concepts, form }: SearchQuery): number {
  if (form === "identifier" || form === "host") return 0.7;
  if (form === "name") return 0.6;
  const things = concepts.filter(({ importance }) => importance === "full" || importance === "argument");
  if (things.length <= 1) return 0.6;
  if (things.length === 2) return 0.43;
  return things.length === 3 ? 0.35 : 0.28;
}

/** What a listing that nobody confirmed keeps of its relevance, in thousandths. */
export const UNCONFIRMED_PERMILLE = 500;
const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * 350 to 1,300 thousandths. A listing that its origin confirmed starts at 1,000; one that nobody confirmed has 500 at
 * most, so it stays below every confirmed one of like relevance. Payers count by their logarithm and up to a ceiling:
 * they can be bought one by one.
 */
export function trustPermille(trust: TrustSignals, nowMs: number): number {
  const failing = trust.health === "failing";
  if (!trust.isConfirmed) return failing ? UNCONFIRMED_PERMILLE - 150 : UNCONFIRMED_PERMILLE;
  const payers = Math.min(200, Math.floor(40 * Math.log2(1 + trust.payers30d)));
  const idleMs = nowMs - trust.lastCalledMs;
  const fresh = idleMs <= 7 * DAY_MS ? 100 : idleMs <= 30 * DAY_MS ? 50 : 0;
  return (failing ? 600 : 1_000) + payers + fresh;
}
