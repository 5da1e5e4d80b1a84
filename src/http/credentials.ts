// Who is calling, and may they? A credential that is sent and wrong is 401 on every route, also where none is needed:
// a typo in a key must not look like an open door.

import type { Config, Env } from "../config.ts";
import { unreachable } from "../platform/assert.ts";
import { equalInConstantTime, sha256Hex } from "../platform/bytes.ts";
import type { Clock } from "../platform/clock.ts";
import type { Failure } from "./answers.ts";
import { type Call, type Caller, type Credential, OPEN_TENANT, type Scope } from "./call.ts";
import { findKeyByHash, type StoredKey } from "./key-store.ts";

export type CredentialCheck = { ok: true; caller: Caller } | { ok: false; failure: Failure };

/** Checks the `Authorization: Bearer` of a request against what the route asks for (CONTRACT.md section 5). */
export async function checkCredential(
  wanted: Credential,
  { request, env, params }: Pick<Call, "request" | "env" | "params">,
  config: Config,
  clock: Clock,
): Promise<CredentialCheck> {
  const presented = await identify(request, env, config, clock);
  if (presented === "wrong") return { ok: false, failure: UNAUTHORIZED };
  switch (wanted.kind) {
    case "none":
      return { ok: true, caller: presented };
    case "operator":
      if (presented.kind === "operator") return { ok: true, caller: presented };
      return { ok: false, failure: presented.kind === "tenant" ? FORBIDDEN : UNAUTHORIZED };
    case "key":
      return checkKey(wanted, presented, config);
    case "provider":
      if (presented.kind === "anonymous") return { ok: false, failure: UNAUTHORIZED };
      return sells(presented) ? { ok: true, caller: presented } : { ok: false, failure: FORBIDDEN };
    case "owner":
      if (presented.kind === "anonymous") return { ok: false, failure: UNAUTHORIZED };
      return owns(presented, params.id) ? { ok: true, caller: presented } : { ok: false, failure: FORBIDDEN };
    default:
      return unreachable(wanted);
  }
}

function sells(caller: Caller): boolean {
  return caller.kind === "tenant" && caller.providerId !== null && caller.scopes.includes("payments:write");
}

/** An owner key opens its own wallet only, whether or not the other exists. */
function owns(caller: Caller, walletId: string | undefined): boolean {
  if (caller.kind === "operator") return true;
  if (caller.kind !== "tenant" || !caller.scopes.includes("wallet:owner")) return false;
  return caller.walletId !== null && caller.walletId === walletId;
}

function checkKey(
  wanted: { scope: Scope; openable: boolean; orOwner?: true },
  presented: Caller,
  config: Config,
): CredentialCheck {
  if (presented.kind === "operator") return { ok: true, caller: presented };
  // Wallets and providers are their own tenants, whoever else shares the one of AUTH=open.
  if (wanted.orOwner && presented.kind === "tenant") {
    const { walletId, providerId, scopes } = presented;
    const isOwner = walletId !== null && scopes.includes("wallet:owner");
    const isProvider = providerId !== null && scopes.includes(wanted.scope);
    if (isOwner || isProvider) return { ok: true, caller: presented };
  }
  if (wanted.openable && config.auth === "open") {
    const scopes = [wanted.scope];
    const caller = {
      kind: "tenant",
      tenant: OPEN_TENANT,
      keyId: "",
      scopes,
      providerId: null,
      walletId: null,
    } as const;
    return { ok: true, caller };
  }
  if (presented.kind === "anonymous") return { ok: false, failure: UNAUTHORIZED };
  const allowed = presented.scopes.includes(wanted.scope);
  return allowed ? { ok: true, caller: presented } : { ok: false, failure: FORBIDDEN };
}

async function identify(request: Request, env: Env, config: Config, clock: Clock): Promise<Caller | "wrong"> {
  const header = request.headers.get("authorization");
  if (header === null) return { kind: "anonymous" };
  const token = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(header)?.[1];
  if (token === undefined) return "wrong";
  if (config.adminToken !== undefined && (await equalInConstantTime(token, config.adminToken))) {
    return { kind: "operator" };
  }
  const key = await rememberedKey(await sha256Hex(token), env, clock);
  return key ? { kind: "tenant", ...key } : "wrong";
}

/** A revoked key stops within this time; verify stays free of storage in between. */
const REMEMBER_MS = 60_000;
/** About a megabyte. The oldest entry leaves first, so that random tokens cannot grow the isolate. */
const MAX_REMEMBERED_KEYS = 5_000;

const remembered = new Map<string, { key: StoredKey | undefined; untilMs: number }>();

async function rememberedKey(hash: string, env: Env, clock: Clock): Promise<StoredKey | undefined> {
  const known = remembered.get(hash);
  if (known && clock.nowMs() < known.untilMs) return known.key;
  const key = await findKeyByHash(env.DB, hash);
  remembered.delete(hash);
  remembered.set(hash, { key, untilMs: clock.nowMs() + REMEMBER_MS });
  const oldest = remembered.keys().next().value;
  if (remembered.size > MAX_REMEMBERED_KEYS && oldest !== undefined) remembered.delete(oldest);
  return key;
}

const UNAUTHORIZED: Failure = {
  status: 401,
  code: "UNAUTHORIZED",
  message: "a valid key is needed: Authorization: Bearer <key>",
  reason: "unauthorized",
  headers: { "www-authenticate": "Bearer" },
};

const FORBIDDEN: Failure = {
  status: 403,
  code: "FORBIDDEN",
  message: "this key may not do that",
  reason: "forbidden",
};
