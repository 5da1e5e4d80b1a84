// The D1 schema: the catalog and the registry. Money and state of payments live in Durable Objects, never here.
// Amounts are TEXT, times integer milliseconds. Migrations are generated from this file into migrations/; FTS5
// tables and triggers are hand-written migrations, because drizzle-kit knows none.

import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** API keys of tenants: the SHA-256 of the key, never the key. */
export const apiKeys = sqliteTable("api_keys", {
  id: text("id").primaryKey(),
  hash: text("hash").notNull().unique(),
  tenant: text("tenant").notNull(),
  /** Separated by spaces. */
  scopes: text("scopes").notNull(),
  /** Set on a provider's key: the capabilities it may sell. */
  providerId: text("provider_id"),
  /** Set on a wallet's owner key: the one wallet it decides about. */
  walletId: text("wallet_id"),
  createdAtMs: integer("created_at_ms").notNull(),
  revokedAtMs: integer("revoked_at_ms"),
});

// ---- The catalog. A listing's text and its owner are derived from `listing_texts`, so that messages that come twice,
// late or out of order leave the same rows. An offer is *shown* when its origin confirmed it or its payTo owns the
// listing, unless the origin's 402 left it out or its payTo withdrew it; nothing else of an offer or of its payTo's text
// reaches a reader.

/**
 * One resource. Columns from `exampleUrl` to `textHash` are the owner's newest text. The search index refers to rows
 * by `rowId` and is written whenever `indexedHash` differs from `textHash`.
 */
export const listings = sqliteTable(
  "listings",
  {
    rowId: integer("row_id").primaryKey({ autoIncrement: true }),
    /** `lst_` and a hash of the identity: the same resource has the same id in every catalog. */
    id: text("id").notNull().unique(),
    type: text("type", { enum: ["http", "mcp"] }).notNull(),
    /** Canonical: scheme, host, path or route template; `mcp:` URLs as written. */
    resource: text("resource").notNull(),
    host: text("host").notNull(),
    routeTemplate: text("route_template"),
    method: text("method"),
    toolName: text("tool_name"),
    x402Version: integer("x402_version").notNull(),

    exampleUrl: text("example_url"),
    serviceName: text("service_name"),
    /** JSON array of strings. */
    tags: text("tags").notNull().default("[]"),
    iconUrl: text("icon_url"),
    description: text("description"),
    mimeType: text("mime_type"),
    /** JSON: the bazaar block as sent, without the values of `headers` and `pathParams`. */
    bazaar: text("bazaar").notNull(),
    /** JSON object: every other extension's key, with `{}`. */
    extensions: text("extensions").notNull().default("{}"),
    textHash: text("text_hash").notNull(),
    indexedHash: text("indexed_hash"),

    /** Lower case for EVM addresses. */
    ownerPayTo: text("owner_pay_to").notNull(),
    /** The first payTo seen owns the text until the origin itself has named its own. */
    ownerSource: text("owner_source", { enum: ["first_seen", "origin"] })
      .notNull()
      .default("first_seen"),
    state: text("state", { enum: ["listed", "hidden"] })
      .notNull()
      .default("listed"),
    hiddenReason: text("hidden_reason", { enum: ["origin_mismatch", "stale", "delisted", "operator"] }),

    firstListedMs: integer("first_listed_ms").notNull(),
    lastUpdatedMs: integer("last_updated_ms").notNull(),
    /** Of the last 30 days, shown payTos only; kept by the cataloger and the retention job. */
    calls30d: integer("calls_30d").notNull().default(0),
    payers30d: integer("payers_30d").notNull().default(0),
    lastCalledMs: integer("last_called_ms").notNull().default(0),
    /** 1 while the counters must be counted anew, because the shown payTos changed. */
    recount: integer("recount").notNull().default(0),

    verifiedAtMs: integer("verified_at_ms"),
    lastProbeAtMs: integer("last_probe_at_ms"),
    failingSinceMs: integer("failing_since_ms"),
    misses: integer("misses").notNull().default(0),
    health: text("health", { enum: ["ok", "failing", "unprobed"] })
      .notNull()
      .default("unprobed"),
    /** When the prober asks the origin next: 0 = as soon as may be, null = never until something changes. */
    nextProbeMs: integer("next_probe_ms").default(0),
  },
  (table) => [
    index("listings_by_next_probe").on(table.nextProbeMs),
    index("listings_by_first_listed").on(table.state, table.firstListedMs, table.id),
    index("listings_by_owner").on(table.ownerPayTo),
    index("listings_by_host").on(table.host),
    /** What a search asks of thousands of rows; the rows themselves are long. */
    index("listings_searched").on(table.rowId, table.state, table.verifiedAtMs),
  ],
);

/**
 * What each payTo says of a listing: its newest text, and when it was first seen there. The row whose payTo is `origin`
 * is what the origin's own 402 says; it outranks every other.
 */
export const listingTexts = sqliteTable(
  "listing_texts",
  {
    listingId: text("listing_id").notNull(),
    payTo: text("pay_to").notNull(),
    firstMs: integer("first_ms").notNull(),
    firstSettlement: text("first_settlement").notNull(),
    newestMs: integer("newest_ms").notNull(),
    newestSettlement: text("newest_settlement").notNull(),
    /** JSON: the text columns of `listings` by their names there. */
    content: text("content").notNull(),
    textHash: text("text_hash").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.listingId, table.payTo] }),
    index("listing_texts_by_pay_to").on(table.payTo, table.firstMs),
  ],
);

/** One way to pay for a listing. The same scheme, method, network, asset and payTo update in place. */
export const offers = sqliteTable(
  "offers",
  {
    listingId: text("listing_id").notNull(),
    scheme: text("scheme").notNull(),
    /** `extra.assetTransferMethod`; empty where none was declared. */
    method: text("method").notNull(),
    /** CAIP-2. */
    network: text("network").notNull(),
    /** EVM addresses in lower case, for comparing; `requirements` has them as sent. */
    asset: text("asset").notNull(),
    payTo: text("pay_to").notNull(),
    amount: text("amount").notNull(),
    /** Millionths of a dollar, rounded up; null where the token is not in the table. */
    usdMicros: integer("usd_micros"),
    /** JSON: the PaymentRequirements as shown. */
    requirements: text("requirements").notNull(),
    /** 1 once the origin's own 402 named this offer. */
    confirmed: integer("confirmed").notNull().default(0),
    /** A confirmed offer's amount is what the origin's 402 said; a payment of another amount only asks for a probe. */
    confirmedAtMs: integer("confirmed_at_ms"),
    /** Set while the origin's newest 402 names other offers but not this one. */
    deniedAtMs: integer("denied_at_ms"),
    /** Set once its payTo delisted it by a signed claim; payments do not bring it back. */
    withdrawnAtMs: integer("withdrawn_at_ms"),
    updatedMs: integer("updated_ms").notNull(),
    updatedSettlement: text("updated_settlement").notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.listingId, table.scheme, table.method, table.network, table.asset, table.payTo],
    }),
    index("offers_by_pay_to").on(table.payTo),
  ],
);

/** Each settlement that counts, once, for 30 days. */
export const calls = sqliteTable(
  "calls",
  {
    settlementId: text("settlement_id").primaryKey(),
    listingId: text("listing_id").notNull(),
    payTo: text("pay_to").notNull(),
    payer: text("payer").notNull(),
    atMs: integer("at_ms").notNull(),
  },
  (table) => [
    index("calls_by_listing").on(table.listingId, table.payer),
    index("calls_by_time").on(table.atMs),
  ],
);

/** How each observation ended. `lost` reads as rejected: its message could not be stored. */
export const observations = sqliteTable(
  "observations",
  {
    /** Hex hash of payment id and listing identity, as in the observation id. */
    hash: text("hash").primaryKey(),
    status: text("status", { enum: ["success", "rejected", "lost"] }).notNull(),
    reason: text("reason"),
    resource: text("resource").notNull(),
    toolName: text("tool_name"),
    updatedMs: integer("updated_ms").notNull(),
  },
  (table) => [
    index("observations_by_time").on(table.updatedMs),
    index("observations_lost").on(table.status).where(sql`status = 'lost'`),
  ],
);

// ---- Proof of life: what the prober and the claims of owners remember.

/** When a host was last probed: one probe per host and minute. */
export const probedHosts = sqliteTable(
  "probed_hosts",
  {
    host: text("host").primaryKey(),
    atMs: integer("at_ms").notNull(),
  },
  (table) => [index("probed_hosts_by_time").on(table.atMs)],
);

/** Nonces of signed claims, until they expire: each acts once. */
export const claimNonces = sqliteTable(
  "claim_nonces",
  {
    payTo: text("pay_to").notNull(),
    nonce: text("nonce").notNull(),
    expiresMs: integer("expires_ms").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.payTo, table.nonce] }),
    index("claim_nonces_by_expiry").on(table.expiresMs),
  ],
);

/** Who took a listing out or put it back, and why: operators and owners, never the prober. */
export const listingDecisions = sqliteTable(
  "listing_decisions",
  {
    id: integer("id").primaryKey({ autoIncrement: true }),
    listingId: text("listing_id").notNull(),
    action: text("action", { enum: ["hide", "restore", "delist", "reprobe"] }).notNull(),
    /** `operator`, or the payTo that signed. */
    by: text("by").notNull(),
    reason: text("reason"),
    atMs: integer("at_ms").notNull(),
  },
  (table) => [index("listing_decisions_by_listing").on(table.listingId, table.atMs)],
);

// ---- The registry of the gateway: who sells what, whose wallet is whose, and which paid calls there were. Balances,
// holds and the state of calls live in Durable Objects.

export const wallets = sqliteTable("wallets", {
  id: text("id").primaryKey(),
  currency: text("currency").notNull(),
  /** Base64 of the raw ed25519 key that signs proofs. */
  publicKey: text("public_key").notNull(),
  /** Counted by the wallet's object: an older rotation never overwrites a newer one. */
  keyVersion: integer("key_version").notNull().default(1),
  createdAtMs: integer("created_at_ms").notNull(),
});

export const providers = sqliteTable("providers", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  /** Where its credits go. */
  walletId: text("wallet_id").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
});

export const capabilities = sqliteTable(
  "capabilities",
  {
    id: text("id").primaryKey(),
    providerId: text("provider_id").notNull(),
    name: text("name").notNull(),
    description: text("description").notNull(),
    url: text("url").notNull(),
    method: text("method"),
    toolName: text("tool_name"),
    /** JSON Schema of the input, as sent. */
    inputSchema: text("input_schema"),
    amountMinor: text("amount_minor").notNull(),
    currency: text("currency").notNull(),
    challengeUrl: text("challenge_url").notNull(),
    /** The breaker is open until then. */
    pausedUntilMs: integer("paused_until_ms").notNull().default(0),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (table) => [index("capabilities_by_provider").on(table.providerId)],
);

/** One row per decided paid call: the receipt index, what the breaker counts, what the audit tells. */
export const paidCalls = sqliteTable(
  "paid_calls",
  {
    transactionId: text("transaction_id").primaryKey(),
    receiptId: text("receipt_id").notNull().unique(),
    status: text("status", { enum: ["completed", "failed"] }).notNull(),
    failureKind: text("failure_kind", { enum: ["provider_error", "client_error", "timeout"] }),
    /** The provider's words: for owner and provider only. */
    errorText: text("error_text"),
    capabilityId: text("capability_id").notNull(),
    providerId: text("provider_id").notNull(),
    walletId: text("wallet_id").notNull(),
    agentId: text("agent_id").notNull(),
    amountMinor: text("amount_minor").notNull(),
    currency: text("currency").notNull(),
    policyVersion: integer("policy_version"),
    approvalId: text("approval_id"),
    decidedAtMs: integer("decided_at_ms").notNull(),
  },
  (table) => [
    index("paid_calls_by_time").on(table.decidedAtMs),
    index("paid_calls_by_capability").on(table.capabilityId, table.decidedAtMs),
    index("paid_calls_by_provider").on(table.providerId, table.decidedAtMs),
    index("paid_calls_by_wallet").on(table.walletId, table.decidedAtMs),
  ],
);

// ---- The audit.

/** One row per settlement that settled or failed. The paid calls' half of the audit is `paid_calls`. */
export const settledPayments = sqliteTable(
  "settled_payments",
  {
    settlementId: text("settlement_id").primaryKey(),
    /** Whose key settled. */
    tenant: text("tenant").notNull(),
    /** The wallet that it pays into; null for sellers' payments. */
    walletId: text("wallet_id"),
    state: text("state", { enum: ["settled", "failed"] }).notNull(),
    errorReason: text("error_reason"),
    resource: text("resource"),
    toolName: text("tool_name"),
    network: text("network").notNull(),
    asset: text("asset").notNull(),
    amount: text("amount").notNull(),
    /** `sha256:` and the hex digest of the address in lower case. */
    payToHash: text("pay_to_hash").notNull(),
    /** JSON: what the payer's bazaar block was answered at settle; null without one. */
    extensionResponses: text("extension_responses"),
    transactionHash: text("transaction_hash"),
    endedAtMs: integer("ended_at_ms").notNull(),
  },
  (table) => [
    index("settled_payments_by_time").on(table.endedAtMs),
    index("settled_payments_by_tenant").on(table.tenant, table.endedAtMs),
    index("settled_payments_by_wallet").on(table.walletId, table.endedAtMs),
  ],
);
