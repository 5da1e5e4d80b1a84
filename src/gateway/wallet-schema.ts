// The tables of one wallet's object. What SQLite can guard itself, it guards: entries are append-only, an entry's id is
// used once per source, spending is never negative. Amounts are TEXT, times integer milliseconds.

export const WALLET_SCHEMA_VERSION = 1;

export const WALLET_SCHEMA = `
  CREATE TABLE version (version INTEGER NOT NULL);
  INSERT INTO version VALUES (${WALLET_SCHEMA_VERSION});
  CREATE TABLE wallet (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    wallet_id TEXT NOT NULL,
    currency TEXT NOT NULL,
    key_fingerprint TEXT NOT NULL,
    key_version INTEGER NOT NULL,
    frozen INTEGER NOT NULL,
    policy TEXT NOT NULL,
    policy_version INTEGER NOT NULL,
    available_minor TEXT NOT NULL,
    held_minor TEXT NOT NULL,
    external_minor TEXT NOT NULL
  );
  CREATE TABLE entries (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    amount_minor TEXT NOT NULL,
    transaction_id TEXT,
    reason TEXT,
    at_ms INTEGER NOT NULL,
    UNIQUE (source, id)
  );
  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
  CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
  CREATE TABLE holds (
    transaction_id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    amount_minor TEXT NOT NULL,
    scope TEXT NOT NULL,
    policy_version INTEGER NOT NULL,
    approval_id TEXT,
    held_at_ms INTEGER NOT NULL
  );
  CREATE INDEX open_holds ON holds (state) WHERE state = 'held';
  CREATE TABLE spending (
    scope TEXT NOT NULL,
    span TEXT NOT NULL,
    amount_minor TEXT NOT NULL CHECK (CAST(amount_minor AS INTEGER) >= 0),
    PRIMARY KEY (scope, span)
  );
  CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL,
    capability_id TEXT NOT NULL,
    amount_minor TEXT NOT NULL,
    currency TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  );
  CREATE INDEX approvals_by_ask ON approvals (agent_id, capability_id, amount_minor, currency);
`;
