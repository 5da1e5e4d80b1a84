// Wallets topped up by real payments: whoever posts one, in whatever order and through whatever crash, it is credited
// once, to the wallet that claimed it first, and only when no reorg can take it back.

import { createExecutionContext, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import worker from "../../src/index.ts";
import { decodeJson, encodeJson } from "../../src/platform/base64-json.ts";
import {
  ACCOUNTS,
  aPayment,
  BUYER,
  mine,
  NETWORK,
  RELAYER,
  revertTo,
  setBlockTime,
  snapshot,
  stopMining,
  type TestPayment,
  usdcBalance,
} from "../support/chain.ts";
import { api, aWallet, operator, type TestWallet } from "./market.ts";
import {
  idOf,
  keyOf,
  killAll,
  moveTime,
  ORIGIN,
  recordOf,
  relayerStub,
  ringAlarm,
  settle,
  settlementOf,
  startSettling,
  until,
} from "./settling.ts";

const TOPUPS = ACCOUNTS[9]?.address ?? BUYER.address;
const FINALITY_BLOCKS = 3;
const CENTS = "250";
const ATOMIC = 2_500_000n;
const DAY_MS = 24 * 60 * 60 * 1_000;

const chain = await startSettling({
  variables: { SETTLE_WAIT_SECONDS: "2", TOPUP_PAY_TO: TOPUPS },
  network: { finalityBlocks: FINALITY_BLOCKS },
});
const shop = await keyOf("shop");

beforeEach(async () => {
  await chain.proxy.clearRules();
  await setBlockTime(chain.rpcUrl, 0);
});

interface ToppedUp {
  settlementId: string;
  state: string;
  amountMinor: string;
  credited: boolean;
  accepts?: unknown[];
  error?: { code: string; message: string };
}

const aTopUp = (amount = ATOMIC) => aPayment({ payTo: TOPUPS, amount });

function post({ walletId }: TestWallet, payment: TestPayment | null, amountMinor = CENTS) {
  const headers: Record<string, string> =
    payment === null ? {} : { "payment-signature": encodeJson(payment.paymentPayload) };
  return api<ToppedUp>("POST", `/v1/wallets/${walletId}/topups`, { body: { amountMinor }, headers });
}

function headerOf(headers: Headers, name: string): unknown {
  return decodeJson(headers.get(name) ?? "");
}

/** What the wallet has, and that its statement sums to it. */
async function balanceOf({ walletId, ownerKey }: TestWallet): Promise<number> {
  const { body: wallet } = await api<{ availableMinor: string }>("GET", `/v1/wallets/${walletId}`, {
    token: ownerKey,
  });
  const { body } = await api<{ entries: { kind: string; amountMinor: string }[] }>(
    "GET",
    `/v1/wallets/${walletId}/entries`,
    { token: ownerKey },
  );
  const sum = body.entries.reduce((total, { amountMinor }) => total + Number(amountMinor), 0);
  expect(sum).toBe(Number(wallet.availableMinor));
  return sum;
}

/** Makes everything mined final and lets the settlement see it. */
async function finish(payment: TestPayment): Promise<void> {
  await mine(chain.rpcUrl, FINALITY_BLOCKS);
  const id = await idOf(payment);
  await until(async () => {
    await runDurableObjectAlarm(relayerStub());
    return settlementOf(id).attend();
  }, "it is final and credited");
}

/** A top-up that a reorg took back before it was final; no node takes its transaction until the rules are cleared. */
async function takenBack(wallet: TestWallet): Promise<{ payment: TestPayment; id: string }> {
  const before = await snapshot(chain.rpcUrl);
  const payment = await aTopUp();
  expect((await post(wallet, payment)).status).toBe(202);
  await stopMining(chain.rpcUrl);
  await revertTo(chain.rpcUrl, before);
  await chain.proxy.addRule({ method: "eth_sendRawTransaction", action: { do: "swallow" } });
  await mine(chain.rpcUrl, FINALITY_BLOCKS + 2);
  const id = await idOf(payment);
  await until(async () => {
    await runDurableObjectAlarm(relayerStub());
    await settlementOf(id).attend();
    return (await recordOf(id, operator))?.reorged === true;
  }, "the watch sees it");
  return { payment, id };
}

describe("a top-up", () => {
  it("is first told what to pay, in the header that published clients read and in the body", async () => {
    const wallet = await aWallet();
    const { status, headers, body } = await post(wallet, null);
    expect(status).toBe(402);
    expect(headerOf(headers, "payment-required")).toEqual(body);
    expect(body.accepts).toEqual([
      expect.objectContaining({ scheme: "exact", amount: ATOMIC.toString(), payTo: TOPUPS }),
    ]);
  });

  it("is credited once it is final: not while it can be taken back, and once however often it is posted", async () => {
    const wallet = await aWallet();
    const payment = await aTopUp();
    const before = await usdcBalance(chain.rpcUrl, TOPUPS);
    const { status, body, headers } = await post(wallet, payment);
    expect(status).toBe(202);
    expect(body).toMatchObject({ state: "settled", amountMinor: CENTS, credited: false });
    expect(headerOf(headers, "payment-response")).toEqual({
      success: true,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      network: NETWORK,
      payer: BUYER.address,
    });
    expect(await usdcBalance(chain.rpcUrl, TOPUPS)).toBe(before + ATOMIC);
    expect(await balanceOf(wallet)).toBe(0);
    await finish(payment);
    expect(await balanceOf(wallet)).toBe(250);
    const again = await post(wallet, payment);
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ settlementId: body.settlementId, credited: true });
    expect(await balanceOf(wallet)).toBe(250);
    expect(await usdcBalance(chain.rpcUrl, TOPUPS)).toBe(before + ATOMIC);
  });

  it("that a reorg takes back before it is final is not credited, and is once it is mined again", async () => {
    const wallet = await aWallet();
    const { id } = await takenBack(wallet);
    expect(await balanceOf(wallet)).toBe(0);
    await chain.proxy.clearRules();
    await until(async () => {
      await runDurableObjectAlarm(relayerStub());
      await mine(chain.rpcUrl);
      return settlementOf(id).attend();
    }, "it is mined again, final and credited");
    expect(await balanceOf(wallet)).toBe(250);
  });

  it.each([
    ["another amount", CENTS, 2_500_001n],
    ["an amount of another request", "251", ATOMIC],
  ])("of %s is not taken", async (_, amountMinor, amount) => {
    const wallet = await aWallet();
    const { status, body } = await post(wallet, await aTopUp(amount), amountMinor);
    expect(status).toBe(402);
    expect(body.error).toMatch(/none of these offers/);
    expect(await balanceOf(wallet)).toBe(0);
  });

  it("with a forged signature, of a wallet that is not there, or in another currency is refused", async () => {
    const wallet = await aWallet();
    const forged = await aPayment({ payTo: TOPUPS, amount: ATOMIC, signature: `0x${"11".repeat(64)}1b` });
    const refused = await post(wallet, forged);
    expect(refused.status).toBe(402);
    expect(refused.body.error).toMatch(/^invalid_exact_evm_signature/);
    expect(headerOf(refused.headers, "payment-response")).toMatchObject({
      success: false,
      errorReason: "invalid_exact_evm_signature",
      transaction: "",
    });
    expect((await post({ ...wallet, walletId: "wal_none" }, null)).status).toBe(404);
    expect((await post(await aWallet("EUR"), null)).status).toBe(400);
    for (const amountMinor of ["0", "01", "1.5", "-1", "", "100000000000"]) {
      expect((await post(wallet, null, amountMinor)).status).toBe(400);
    }
  });
});

describe("top-ups to a relayer's account", () => {
  it("are not set up, and health says why", async () => {
    const { walletId } = await aWallet();
    const unsafe = { ...env, TOPUP_PAY_TO: RELAYER.address };
    const ask = (path: string, init?: RequestInit) =>
      worker.fetch(new Request(ORIGIN + path, init), unsafe, createExecutionContext());
    const body = JSON.stringify({ amountMinor: CENTS });
    const response = await ask(`/v1/wallets/${walletId}/topups`, { method: "POST", body });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { code: "MISCONFIGURED" } });
    const { status, checks } = (await (await ask("/health")).json()) as {
      status: string;
      checks: unknown[];
    };
    expect(status).toBe("degraded");
    expect(checks).toContainEqual({
      name: "config TOPUP_PAY_TO",
      ok: false,
      detail: "must not be a relayer's account",
    });
  });
});

describe("one payment posted to two wallets and to /settle", () => {
  type Place = "first" | "second" | "settle";
  const orders: [Place, Place, Place][] = [
    ["first", "second", "settle"],
    ["second", "first", "settle"],
    ["settle", "first", "second"],
    ["first", "settle", "second"],
    ["second", "settle", "first"],
    ["settle", "second", "first"],
  ];

  it.each(orders)(
    "%s, %s, %s, with a crash after each: one credit, to the wallet that came first",
    async (...order) => {
      const wallets = { first: await aWallet(), second: await aWallet() };
      const payment = await aTopUp();
      const winner = order.find((place): place is "first" | "second" => place !== "settle") ?? "first";
      for (const place of order) {
        if (place === "settle") {
          const { status, body } = await settle(payment, shop);
          expect(status).toBe(400);
          expect(body.errorReason).toBe("invalid_payment_requirements");
        } else {
          const { status } = await post(wallets[place], payment);
          expect(status).toBe(place === winner ? 202 : 409);
        }
        await killAll();
      }
      await finish(payment);
      await killAll();
      await ringAlarm(await idOf(payment));
      for (const [name, wallet] of Object.entries(wallets)) {
        expect(await balanceOf(wallet)).toBe(name === winner ? 250 : 0);
      }
    },
  );

  it("at the same time: one of them has it", async () => {
    const wallets = [await aWallet(), await aWallet(), await aWallet()];
    const payment = await aTopUp();
    const answers = await Promise.all(wallets.map((wallet) => post(wallet, payment)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
    await finish(payment);
    const balances = await Promise.all(wallets.map(balanceOf));
    expect(balances).toEqual(answers.map(({ status }) => (status === 202 ? 250 : 0)));
  });

  it.each([
    ["while it is verified", { method: "eth_getCode", action: { do: "delay", ms: 800 } } as const],
    ["while it is sent", { method: "eth_sendRawTransaction", action: { do: "delay", ms: 800 } } as const],
    [
      "while its receipt is awaited",
      { method: "eth_getTransactionReceipt", action: { do: "delay", ms: 800 } } as const,
    ],
  ])("everything dies %s: posted again, it is credited once", async (_, rule) => {
    const wallet = await aWallet();
    const payment = await aTopUp();
    await chain.proxy.addRule(rule);
    const cut = post(wallet, payment).catch(() => null);
    await new Promise((resolve) => setTimeout(resolve, 400));
    await killAll();
    await cut;
    await chain.proxy.clearRules();
    await until(async () => (await post(wallet, payment)).status === 202, "it is settled");
    await finish(payment);
    expect(await balanceOf(wallet)).toBe(250);
  });

  it("the wallet fails when it is credited: told again later, and credited once", async () => {
    const wallet = await aWallet();
    const payment = await aTopUp();
    await post(wallet, payment);
    const id = await idOf(payment);
    await mine(chain.rpcUrl, FINALITY_BLOCKS);
    await renameEntries(wallet, "entries", "gone");
    const credits = async () => (await outboxOf(id)).filter(({ kind }) => kind === "credit");
    await until(async () => {
      await runDurableObjectAlarm(relayerStub());
      // At the same time, as an alarm comes while a caller asks: it is still due once.
      await Promise.all([settlementOf(id).attend(), settlementOf(id).attend(), settlementOf(id).attend()]);
      return (await credits()).some(({ failures }) => failures > 0);
    }, "the wallet was asked");
    expect(await credits()).toHaveLength(1);
    expect((await post(wallet, payment)).body).toMatchObject({ state: "settled", credited: false });
    await killAll();
    await renameEntries(wallet, "gone", "entries");
    await moveTime(id, 60_000);
    await finish(payment);
    expect(await balanceOf(wallet)).toBe(250);
  });

  it("the wallet's acknowledgement is lost: told again, and credited once", async () => {
    const wallet = await aWallet();
    const payment = await aTopUp();
    await post(wallet, payment);
    await finish(payment);
    const id = await idOf(payment);
    await runInDurableObject(settlementOf(id), (_, { storage }) => {
      const again = JSON.stringify([{ kind: "credit", dueAtMs: 0, failures: 0 }]);
      storage.sql.exec("UPDATE settlement SET settlement = json_set(settlement, '$.outbox', json(?))", again);
    });
    await killAll();
    expect(await outboxOf(id)).toHaveLength(1);
    await settlementOf(id).attend();
    expect(await outboxOf(id)).toEqual([]);
    expect(await balanceOf(wallet)).toBe(250);
  });

  it("it is slow: while it is pending and after it, another wallet hears that it is not for it", async () => {
    const [wallet, other] = [await aWallet(), await aWallet()];
    const payment = await aTopUp();
    await stopMining(chain.rpcUrl);
    const { status, body, headers } = await post(wallet, payment);
    expect(status).toBe(202);
    expect(body).toMatchObject({ state: "broadcast", credited: false });
    expect(headerOf(headers, "payment-response")).toMatchObject({ errorReason: "settlement_pending" });
    expect((await post(other, payment)).status).toBe(409);
    await setBlockTime(chain.rpcUrl, 0);
    await mine(chain.rpcUrl);
    const id = await idOf(payment);
    await until(async () => {
      await ringAlarm(id);
      return (await recordOf(id, operator))?.state === "settled";
    }, "it is settled");
    expect((await post(other, payment)).status).toBe(409);
    await finish(payment);
    expect([await balanceOf(wallet), await balanceOf(other)]).toEqual([250, 0]);
  });
});

// Last in the file: its transaction stays before the relayer's next ones.
describe("a top-up that a reorg takes back for good", () => {
  it("is never credited", async () => {
    const wallet = await aWallet();
    const { payment, id } = await takenBack(wallet);
    await moveTime(id, 3 * DAY_MS);
    expect(await settlementOf(id).attend()).toBe(false);
    expect(await outboxOf(id)).toEqual([]);
    expect((await post(wallet, payment)).body).toMatchObject({ credited: false });
    expect(await balanceOf(wallet)).toBe(0);
  });
});

/** Breaks and mends the wallet's ledger. */
function renameEntries({ walletId }: TestWallet, from: string, to: string): Promise<void> {
  return runInDurableObject(env.WALLETS.getByName(walletId), (_, { storage }) => {
    storage.sql.exec(`ALTER TABLE ${from} RENAME TO ${to}`);
  });
}

/** What the settlement has still to tell. */
function outboxOf(id: string): Promise<{ kind: string; failures: number }[]> {
  return runInDurableObject(settlementOf(id), (_, { storage }) => {
    const [row] = storage.sql.exec<{ settlement: string }>("SELECT settlement FROM settlement").toArray();
    return (JSON.parse(row?.settlement ?? "") as { outbox: { kind: string; failures: number }[] }).outbox;
  });
}
