// The tables of one relayer and the shapes of their rows. No statements here: relayer-rows.ts. Wei amounts are TEXT,
// because storage takes no bigint and gives integers back as doubles; heights, nonces and gwei fit a number.
//
// intent       one step of a settlement: what shall be called. Its row is the promise to send it.
// slot         one nonce. Open until the chain has mined a transaction with it.
// transaction  one signed version of a slot: the call, the same call with a higher fee, or a filler.
// block        a block that holds our transactions and is not final: checked again until it is.
// tombstone    a cancelled attempt: no later submit of its transfer is taken.
// revert       a settlement that reverted, by its payer.

import type { Address, Hex } from "viem";
import type { Step } from "./relayer-port.ts";

export const SCHEMA_VERSION = 1;

export const SCHEMA = `
CREATE TABLE IF NOT EXISTS lane (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  schema_version INTEGER NOT NULL,
  name TEXT NOT NULL,
  next_nonce INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS intents (
  id INTEGER PRIMARY KEY,
  settlement_id TEXT NOT NULL,
  attempt TEXT NOT NULL,
  step TEXT NOT NULL,
  payer TEXT NOT NULL,
  to_address TEXT NOT NULL,
  data TEXT NOT NULL,
  gas_cap TEXT NOT NULL,
  valid_before_seconds INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'slotless', 'mined', 'abandoned')),
  UNIQUE (settlement_id, attempt, step)
) STRICT;
CREATE INDEX IF NOT EXISTS intents_waiting ON intents (payer, state) WHERE state IN ('waiting', 'slotless');
CREATE INDEX IF NOT EXISTS intents_slotless ON intents (id) WHERE state = 'slotless';

CREATE TABLE IF NOT EXISTS slots (
  nonce INTEGER PRIMARY KEY,
  intent_id INTEGER,
  state TEXT NOT NULL CHECK (state IN ('open', 'mined', 'lost', 'final')),
  cost_gwei INTEGER NOT NULL,
  next_send_at_ms INTEGER NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  accepted_at_ms INTEGER,
  accepted_height INTEGER,
  passed_at_ms INTEGER,
  block_number INTEGER,
  mined_kind TEXT,
  receipt TEXT,
  final_at_ms INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS slots_open ON slots (nonce, next_send_at_ms, cost_gwei) WHERE state = 'open';
CREATE INDEX IF NOT EXISTS slots_passed ON slots (nonce) WHERE state = 'open' AND passed_at_ms IS NOT NULL;
CREATE INDEX IF NOT EXISTS slots_unfinal ON slots (block_number) WHERE state IN ('mined', 'lost');
CREATE INDEX IF NOT EXISTS slots_lost ON slots (nonce) WHERE state = 'lost';
CREATE INDEX IF NOT EXISTS slots_final ON slots (final_at_ms) WHERE state = 'final';
CREATE INDEX IF NOT EXISTS slots_by_intent ON slots (intent_id);

CREATE TABLE IF NOT EXISTS transactions (
  nonce INTEGER NOT NULL,
  version INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('call', 'filler')),
  gas TEXT NOT NULL,
  max_fee TEXT NOT NULL,
  priority_fee TEXT NOT NULL,
  hash TEXT,
  raw TEXT,
  PRIMARY KEY (nonce, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS transactions_unsigned ON transactions (nonce) WHERE raw IS NULL;

CREATE TABLE IF NOT EXISTS blocks (
  number INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  witness TEXT NOT NULL,
  is_checked INTEGER NOT NULL,
  missing_since_ms INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS blocks_unchecked ON blocks (number) WHERE is_checked = 0;

CREATE TABLE IF NOT EXISTS tombstones (
  settlement_id TEXT NOT NULL,
  attempt TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (settlement_id, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tombstones_by_age ON tombstones (at_ms);

CREATE TABLE IF NOT EXISTS reverts (
  settlement_id TEXT PRIMARY KEY,
  payer TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS reverts_by_payer ON reverts (payer, at_ms);
`;

/**
 * `waiting`: a slot of its own is open, or a filler holds it and is not final. `slotless`: it needs a new slot, or to
 * be given up. `mined`: its call is on the chain. `abandoned`: given up, nothing more is sent for it.
 */
export type IntentState = "waiting" | "slotless" | "mined" | "abandoned";

/**
 * `open`: no transaction with this nonce is known to be mined. `mined`: one of ours is, its receipt is stored and
 * watched. `lost`: the chain's nonce is past it and no hash of ours is on the chain: the account is used elsewhere.
 * `final`: a reorg can no longer change it.
 */
export type SlotState = "open" | "mined" | "lost" | "final";

export type TransactionKind = "call" | "filler";

export type IntentRow = {
  id: number;
  settlement_id: string;
  attempt: string;
  step: Step;
  payer: string;
  to_address: Address;
  data: Hex;
  gas_cap: string;
  valid_before_seconds: number;
  state: IntentState;
};

export type SlotRow = {
  nonce: number;
  /** Null for a filler that mends a gap. */
  intent_id: number | null;
  state: SlotState;
  failures: number;
  accepted_at_ms: number | null;
  accepted_height: number | null;
  /** When a node first said that the account's nonce is past this one. */
  passed_at_ms: number | null;
  block_number: number | null;
  mined_kind: TransactionKind | null;
  receipt: string | null;
};

export type TransactionRow = {
  nonce: number;
  version: number;
  kind: TransactionKind;
  gas: string;
  max_fee: string;
  priority_fee: string;
  hash: Hex | null;
  raw: Hex | null;
};

export type BlockRow = {
  number: number;
  hash: Hex;
  /** One of our transactions in the block: while its receipt names the same block hash, the block stands. */
  witness: Hex;
  is_checked: number;
  missing_since_ms: number | null;
};
