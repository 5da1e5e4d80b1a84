// Settlements that are cut off: receipts that come late, objects that die at every step, alarms that ring twice and
// late, storage that fails. Each ends in one transaction, one success at most, and the right record.

import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it } from "vitest";
import { aPayment, mine, setBlockTime, stopMining, type TestPayment } from "../support/chain.ts";
import type { Rule } from "../support/rpc-proxy-client.ts";
import {
  idOf,
  keyOf,
  kill,
  killAll,
  moveTime,
  recordOf,
  relayerStub,
  ringAlarm,
  sentBy,
  settle,
  settlementOf,
  startSettling,
  until,
} from "./settling.ts";

const WAIT_MS = 2_000;
const chain = await startSettling({ variables: { SETTLE_WAIT_SECONDS: String(WAIT_MS / 1_000) } });
const shop = await keyOf("shop");

beforeEach(async () => {
  await chain.proxy.clearRules();
  await setBlockTime(chain.rpcUrl, 0);
});

const stateOf = async (payment: TestPayment) => (await recordOf(await idOf(payment), shop))?.state;

/** How often the node was handed a transaction, and how many were mined. */
async function countSent(): Promise<() => Promise<{ handed: number; mined: number }>> {
  const count = async () => (await chain.proxy.counts()).byMethod.eth_sendRawTransaction ?? 0;
  const before = { handed: await count(), mined: await sentBy(chain) };
  return async () => ({
    handed: (await count()) - before.handed,
    mined: (await sentBy(chain)) - before.mined,
  });
}

describe("C15: the receipt is not seen in time", () => {
  it("C15: pending with the hash, the repeat joins and gets the success, nothing is sent twice", async () => {
    const sent = await countSent();
    await stopMining(chain.rpcUrl);
    const payment = await aPayment();
    const { status, body } = await settle(payment, shop);
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: false, errorReason: "settlement_pending" });
    expect(body.transaction).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await recordOf(await idOf(payment), shop)).toMatchObject({
      state: "broadcast",
      transaction: body.transaction,
    });
    const repeat = settle(payment, shop);
    setTimeout(() => void mine(chain.rpcUrl), 300);
    expect((await repeat).body).toMatchObject({ success: true, transaction: body.transaction });
    expect(await sent()).toEqual({ handed: 1, mined: 1 });
    expect((await settle(payment, shop)).body.errorReason).toBe("duplicate_settlement");
  });

  it("C15: once final, the first call to ask gets the success, whoever asked before", async () => {
    await stopMining(chain.rpcUrl);
    const payment = await aPayment();
    const headers = { "idempotency-key": "c15" };
    const keyed = settle(payment, shop, headers);
    await until(async () => (await stateOf(payment)) === "broadcast", "it is sent");
    const joined = settle(payment, shop);
    expect((await keyed).body.errorReason).toBe("settlement_pending");
    expect((await joined).body.errorReason).toBe("settlement_pending");
    await mine(chain.rpcUrl);
    await ringAlarm(await idOf(payment));
    expect(await stateOf(payment)).toBe("settled");
    const taken = await settle(payment, shop, headers);
    expect(taken.body.success).toBe(true);
    expect(taken.body.extra?.replayed).toBeUndefined();
    expect((await settle(payment, shop)).body.errorReason).toBe("duplicate_settlement");
    expect((await settle(payment, shop, headers)).body.extra?.replayed).toBe(true);
  });

  it("C15: a call that joined takes over once the first was told pending, and not before", async () => {
    await stopMining(chain.rpcUrl);
    const payment = await aPayment();
    const first = settle(payment, shop);
    await until(async () => (await stateOf(payment)) === "broadcast", "it is sent");
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS / 2));
    const joined = settle(payment, shop);
    expect((await first).body.errorReason).toBe("settlement_pending");
    await mine(chain.rpcUrl);
    expect((await joined).body.success).toBe(true);
    const sent = await countSent();
    const other = await aPayment();
    const owner = settle(other, shop);
    await until(async () => (await sent()).handed === 1, "the node has it");
    const guest = settle(other, shop);
    await mine(chain.rpcUrl);
    expect((await owner).body.success).toBe(true);
    expect((await guest).body.errorReason).toBe("duplicate_settlement");
  });
});

interface KillPoint {
  name: string;
  /** What is held or lost while the objects die. */
  rule: Rule;
}

const KILL_POINTS: KillPoint[] = [
  {
    name: "claimed, the intent not written",
    rule: { method: "eth_getBalance", times: 1, action: { do: "hold" } },
  },
  {
    name: "hash stored, the node has not heard of it",
    rule: { method: "eth_sendRawTransaction", times: 1, action: { do: "hold" } },
  },
  {
    name: "sent, the node's answer lost",
    rule: { method: "eth_sendRawTransaction", times: 1, action: { do: "forward_then_hold" } },
  },
  {
    name: "mined, the receipt not seen",
    rule: { method: "eth_getTransactionReceipt", times: 1, action: { do: "hold" } },
  },
];

const VICTIMS = {
  "the settlement": async (id: string) => kill(settlementOf(id)),
  "the relayer": async () => kill(relayerStub()),
  both: async (id: string) => {
    await Promise.all([kill(settlementOf(id)), kill(relayerStub())]);
  },
};

describe("C16: an object dies in the middle", () => {
  for (const { name, rule } of KILL_POINTS) {
    it.each(Object.entries(VICTIMS))(
      `C16: ${name}, %s dies: the same call gets its success`,
      async (_, strike) => {
        await kill(relayerStub()); // What it remembers of the chain would spare it the read that is held.
        const sent = await countSent();
        await chain.proxy.addRule(rule);
        const payment = await aPayment();
        const waiting = settle(payment, shop);
        await until(async () => (await chain.proxy.held()) > 0, "the point is reached");
        await strike(await idOf(payment));
        await chain.proxy.clearRules();
        const { body } = await waiting;
        // A death this late may use up the waiting; then the repeat has the success.
        const told = body.success ? body : (await settle(payment, shop)).body;
        expect(told).toMatchObject({ success: true });
        expect((await sent()).mined).toBe(1);
        expect(await recordOf(await idOf(payment), shop)).toMatchObject({
          state: "settled",
          transaction: told.transaction,
        });
        expect((await settle(payment, shop)).body.errorReason).toBe("duplicate_settlement");
      },
    );

    it(`C16: ${name}, everything dies: the alarm alone brings it to the right record`, async () => {
      await killAll();
      const sent = await countSent();
      await chain.proxy.addRule(rule);
      const payment = await aPayment();
      const id = await idOf(payment);
      const headers = { "idempotency-key": `after ${name}` };
      const dying = settle(payment, shop, headers);
      await until(async () => (await chain.proxy.held()) > 0, "the point is reached");
      await killAll();
      expect((await dying).status).toBe(500);
      await chain.proxy.clearRules();
      await until(async () => {
        await ringAlarm(id);
        return (await stateOf(payment)) === "settled";
      }, "the alarm settles it");
      expect((await sent()).mined).toBe(1);
      // The claim is the dead call's: a stranger is told the transaction, the same key the success.
      const stranger = await settle(payment, shop);
      expect(stranger.body.errorReason).toBe("duplicate_settlement");
      const same = await settle(payment, shop, headers);
      expect(same.body).toMatchObject({ success: true, transaction: stranger.body.transaction });
    });
  }

  it("C16: the hash cannot be stored: the relayer has it, and it is stored once storage works again", async () => {
    await kill(relayerStub());
    const sent = await countSent();
    const payment = await aPayment();
    const id = await idOf(payment);
    await chain.proxy.addRule({ method: "eth_getBalance", times: 1, action: { do: "hold" } });
    const waiting = settle(payment, shop);
    await until(async () => (await chain.proxy.held()) > 0, "it is claimed");
    const run = (statement: string) =>
      runInDurableObject(settlementOf(id), (_, state) => void state.storage.sql.exec(statement));
    await run(
      "CREATE TRIGGER broken BEFORE UPDATE ON settlement BEGIN SELECT RAISE(FAIL, 'no space left'); END",
    );
    await chain.proxy.clearRules();
    await until(async () => (await sent()).mined === 1, "the transfer is mined");
    expect(await stateOf(payment)).toBe("claimed");
    await run("DROP TRIGGER broken");
    const { body } = await waiting;
    const told = body.success ? body : (await settle(payment, shop)).body;
    expect(told.success).toBe(true);
    expect(await sent()).toEqual({ handed: 1, mined: 1 });
  });
});

describe("alarms", () => {
  it("ring twice and late without a second broadcast or another outcome", async () => {
    const sent = await countSent();
    await stopMining(chain.rpcUrl);
    const payment = await aPayment();
    const id = await idOf(payment);
    expect((await settle(payment, shop)).body.errorReason).toBe("settlement_pending");
    const ringing = Promise.all([ringAlarm(id), ringAlarm(id)]);
    await mine(chain.rpcUrl);
    await ringing;
    const record = await recordOf(id, shop);
    expect(record?.state).toBe("settled");
    await ringAlarm(id);
    await ringAlarm(id);
    expect(await recordOf(id, shop)).toEqual(record);
    expect((await settle(payment, shop)).body.success).toBe(true);
    expect(await sent()).toEqual({ handed: 1, mined: 1 });
  });

  it("forget a settlement 90 days after it was final, not a day before", async () => {
    const payment = await aPayment();
    const id = await idOf(payment);
    expect((await settle(payment, shop)).body.success).toBe(true);
    const day = 24 * 3_600_000;
    await moveTime(id, 89 * day);
    await ringAlarm(id);
    expect(await stateOf(payment)).toBe("settled");
    await moveTime(id, 90 * day + 60_000);
    await ringAlarm(id);
    expect(await recordOf(id, shop)).toBeNull();
    expect(await ringAlarm(id)).toBe(false);
  });
});
