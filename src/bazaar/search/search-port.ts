// What the catalog and its search ask of each other. The routes parse filters and cursors and load the rows; the
// search decides which rows match and in which order; the cataloger has the index written when a listing's text
// changes. Types only.

/**
 * A condition over the table `listings` under the alias `l`, with `?` for each parameter. It already asks for
 * `l.state = 'listed'`, so a search never adds that.
 */
export interface ListingCondition {
  sql: string;
  params: readonly (string | number)[];
}

export interface SearchRequest {
  /** As typed: 1 to `MAX_QUERY_CHARACTERS` characters. */
  query: string;
  condition: ListingCondition;
  /** True when one payTo was asked for: then its fourth row is not ranked later. */
  forOnePayTo: boolean;
  /** Row ids of earlier pages, left out of this one. At most 1,000. */
  shownRowIds: readonly number[];
  /** 1 to 100. */
  limit: number;
  nowMs: number;
}

export interface SearchPage {
  /** Best first, at most `limit`. */
  rowIds: number[];
  /** More rows match than were returned. */
  hasMore: boolean;
}

/** A listing's text as the index takes it: the columns of `listings`, decoded. */
export interface IndexedListing {
  rowId: number;
  type: "http" | "mcp";
  resource: string;
  host: string;
  routeTemplate: string | null;
  method: string | null;
  toolName: string | null;
  serviceName: string | null;
  tags: readonly string[];
  description: string | null;
  /** The bazaar block as stored: `info.input` holds parameter names. */
  bazaar: unknown;
}
