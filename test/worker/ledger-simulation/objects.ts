// The gateway's own objects with what a simulation needs besides: a way to wallets that breaks, an alarm that can be
// rung, a crash, and a look at the storage. Their code is the deployed one's.

import type { Env } from "../../../src/config.ts";
import { PaidCallObject } from "../../../src/gateway/paid-call-object.ts";
import { WalletObject } from "../../../src/gateway/wallet-object.ts";
import { type ChooseFault, faultyWallets } from "../faulty-wallets.ts";

/** Set by the simulation that runs in this isolate. */
export const weather: { nextFault: ChooseFault } = { nextFault: () => "none" };

/** What `abort` says to whoever was calling. */
const CRASH = "simulated crash";

export class SimulatedPaidCall extends PaidCallObject {
  constructor(ctx: DurableObjectState, env: Env) {
    const nextFault: ChooseFault = (step, transactionId) => weather.nextFault(step, transactionId);
    super(ctx, { ...env, WALLETS: faultyWallets(env.WALLETS, nextFault) });
  }

  async fireAlarm(): Promise<void> {
    if ((await this.ctx.storage.getAlarm()) !== null) await this.alarm();
  }

  async crash(): Promise<void> {
    this.ctx.abort(CRASH);
  }

  /** `refused`: nothing is stored. */
  async look(): Promise<{ state: string; isSettled: boolean }> {
    const { sql } = this.ctx.storage;
    const exists = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'paid_call'").toArray().length > 0;
    if (!exists) return { state: "refused", isSettled: true };
    const { call } = sql.exec<{ call: string }>("SELECT call FROM paid_call").one();
    const { state, isSettled } = JSON.parse(call) as { state: string; isSettled: boolean };
    return { state, isSettled };
  }
}

export interface Books {
  walletId: string;
  available: bigint;
  held: bigint;
  external: bigint;
  /** The balance that the entries sum to. */
  statement: { available: bigint; held: bigint };
  openHolds: number;
  holdsResolvedTwice: number;
  negativeSpending: number;
}

export class SimulatedWallet extends WalletObject {
  async crash(): Promise<void> {
    this.ctx.abort(CRASH);
  }

  /** What the storage says, read past the rules. */
  async books(): Promise<Books> {
    const { sql } = this.ctx.storage;
    const wallet = sql.exec("SELECT * FROM wallet").one();
    const count = (statement: string) => sql.exec(statement).toArray().length;
    const sum = { credit: 0n, debit: 0n, hold: 0n, capture: 0n, release: 0n };
    for (const { kind, amount_minor } of sql.exec("SELECT kind, amount_minor FROM entries")) {
      sum[kind as keyof typeof sum] += BigInt(String(amount_minor));
    }
    return {
      walletId: String(wallet.wallet_id),
      available: BigInt(String(wallet.available_minor)),
      held: BigInt(String(wallet.held_minor)),
      external: BigInt(String(wallet.external_minor)),
      statement: {
        available: sum.credit - sum.debit - sum.hold + sum.release,
        held: sum.hold - sum.capture - sum.release,
      },
      openHolds: count("SELECT 1 FROM holds WHERE state = 'held'"),
      holdsResolvedTwice: count(
        "SELECT 1 FROM entries WHERE kind IN ('capture', 'release') GROUP BY transaction_id HAVING COUNT(*) > 1",
      ),
      negativeSpending: count("SELECT 1 FROM spending WHERE CAST(amount_minor AS INTEGER) < 0"),
    };
  }
}
