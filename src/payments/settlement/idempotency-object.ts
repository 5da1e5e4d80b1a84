// Which payment does an Idempotency-Key stand for? One object per (tenant, key); it is asked before the settlement is
// called, so that a key can never be carried from one payment to another. It stores a fingerprint and nothing else;
// the outcome is the settlement's.

import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../config.ts";
import { sha256Hex } from "../../platform/bytes.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";

/** As long as a caller may sensibly repeat one HTTP request. */
export const KEY_LIFETIME_MS = 24 * 60 * 60 * 1_000;

interface Binding {
  fingerprint: string;
  untilMs: number;
}

const BINDING = "binding";

export class IdempotencyObject extends DurableObject<Env> {
  clock: Clock = systemClock;

  /** Binds the key to `fingerprint`, or says that it stands for another one. The same call again is `bound` again. */
  bind(fingerprint: string): "bound" | "conflict" {
    const nowMs = this.clock.nowMs();
    const known = this.#read();
    if (known && nowMs < known.untilMs) return known.fingerprint === fingerprint ? "bound" : "conflict";
    const binding: Binding = { fingerprint, untilMs: nowMs + KEY_LIFETIME_MS };
    this.ctx.storage.kv.put(BINDING, binding);
    this.ctx.storage.setAlarm(binding.untilMs);
    return "bound";
  }

  /** Forgets. May come early by the object's clock, late, or twice. */
  override async alarm(): Promise<void> {
    const known = this.#read();
    if (known && this.clock.nowMs() < known.untilMs) await this.ctx.storage.setAlarm(known.untilMs);
    else await this.ctx.storage.deleteAll();
  }

  #read(): Binding | undefined {
    return this.ctx.storage.kv.get<Binding>(BINDING);
  }
}

/** The object's name: a hash, so that no key of a client is stored anywhere. Tenants never meet in it. */
export async function idempotencyName(tenant: string, key: string): Promise<string> {
  return sha256Hex(JSON.stringify([tenant, key]));
}
