// Who decides about a wallet, what freezing does, and that entries are made once, add up and stay.

import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { WalletObject } from "../../src/gateway/wallet-object.ts";
import { toBase64 } from "../../src/platform/bytes.ts";
import {
  type Answer,
  aMarket,
  api,
  aSigner,
  aWallet,
  give,
  operate,
  operator,
  tablesOf,
  walletOf,
} from "./market.ts";

interface Entry {
  id: string;
  kind: string;
  amountMinor: string;
  transactionId?: string;
  reason?: string;
  at: string;
}

async function entriesOf(walletId: string, limit = 100): Promise<Entry[]> {
  const entries: Entry[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const path = `/v1/wallets/${walletId}/entries?limit=${limit}${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const page: Answer<{ entries: Entry[]; cursor: string | null }> = await api("GET", path, {
      token: operator,
    });
    entries.push(...page.body.entries);
    cursor = page.body.cursor;
  }
  return entries;
}

describe("whoever has only the payment key", () => {
  it("cannot approve, unfreeze, rotate, read or set a policy", async () => {
    const market = await aMarket();
    const { walletId, payment } = market.buyer;
    const [key, policy] = [toBase64(payment.publicKey), { rules: [], budgets: [] }];
    const attempts: [string, string, unknown][] = [
      ["GET", "", undefined],
      ["GET", "/entries", undefined],
      ["GET", "/approvals", undefined],
      ["PUT", "/policy", policy],
      ["PUT", "/frozen", { frozen: false }],
      ["PUT", "/payment-key", { publicKey: key }],
      ["POST", "/approvals/apr_1/approve", undefined],
      ["POST", "/credits", { amountMinor: "1", reason: "x" }],
      ["POST", "/debits", { amountMinor: "1", reason: "x" }],
    ];
    const stranger = await aWallet();
    for (const [method, path, body] of attempts) {
      const url = `/v1/wallets/${walletId}${path}`;
      const statuses = [];
      for (const token of [undefined, key, market.providerKey, stranger.ownerKey]) {
        statuses.push((await api(method, url, token === undefined ? { body } : { token, body })).status);
      }
      expect({ path, statuses }).toEqual({ path, statuses: [401, 401, 403, 403] });
    }
    for (const path of ["/credits", "/debits"]) {
      const body = { amountMinor: "1", reason: "x" };
      const url = `/v1/wallets/${walletId}${path}`;
      expect((await api("POST", url, { token: market.buyer.ownerKey, body })).status).toBe(403);
    }
  });

  it("loses it at once when the owner rotates: the old key's proofs are refused, the new one's taken", async () => {
    const market = await aMarket();
    const [oldKey, newKey] = [market.buyer.payment, await aSigner()];
    const early = await market.proof(await market.challenge(), {}, oldKey);
    await market.release(
      (await market.authorize(await market.proof(await market.challenge()))).body.transactionId,
    );
    const rotated = await api("PUT", `/v1/wallets/${market.buyer.walletId}/payment-key`, {
      token: market.buyer.ownerKey,
      body: { publicKey: toBase64(newKey.publicKey) },
    });
    expect(rotated.body).toEqual({ publicKey: toBase64(newKey.publicKey) });
    expect((await market.authorize(early)).body.code).toBe("INVALID_SIGNATURE");
    const fresh = await market.proof(await market.challenge(), {}, newKey);
    expect((await market.authorize(fresh)).body.ok).toBe(true);
  });

  it("is stopped by the wallet itself where an isolate still remembers the old key", async () => {
    const market = await aMarket();
    await market.release(await market.hold());
    await walletOf(market.buyer.walletId).rotateKey("f".repeat(64));
    expect((await market.tryHold()).body).toMatchObject({ ok: false, code: "INVALID_SIGNATURE" });
  });
});

describe("a frozen wallet", () => {
  it("takes no hold, and pays and refunds what was held before", async () => {
    const market = await aMarket();
    const [one, two] = [await market.hold(), await market.hold()];
    const freeze = (frozen: boolean) =>
      api("PUT", `/v1/wallets/${market.buyer.walletId}/frozen`, {
        token: market.buyer.ownerKey,
        body: { frozen },
      });
    expect((await freeze(true)).body).toEqual({ frozen: true });
    expect((await market.tryHold()).body.code).toBe("WALLET_FROZEN");
    await market.complete(one);
    await market.release(two);
    expect(await market.balances()).toEqual({ available: 9_900, held: 0, earned: 100 });
    await freeze(false);
    await market.hold();
  });
});

describe("entries", () => {
  it("of an operator are made once per Idempotency-Key, and another body under it is a conflict", async () => {
    const { walletId } = await aWallet();
    const enter = (kind: string, amountMinor: string, key: string | undefined, reason = "gift") =>
      api<Entry>("POST", `/v1/wallets/${walletId}/${kind}`, {
        token: operator,
        body: { amountMinor, reason },
        headers: key === undefined ? {} : { "idempotency-key": key },
      });
    const [first, second] = await Promise.all([enter("credits", "500", "k1"), enter("credits", "500", "k1")]);
    expect([first.status, second.status].sort()).toEqual([200, 201]);
    expect(first.body).toEqual(second.body);
    expect(first.body).toMatchObject({ id: "k1", kind: "credit", amountMinor: "500", reason: "gift" });
    expect((await enter("credits", "501", "k1")).status).toBe(409);
    expect((await enter("credits", "500", "k1", "other")).status).toBe(409);
    expect((await enter("debits", "500", "k1")).status).toBe(409);
    expect((await enter("credits", "500", undefined)).status).toBe(400);
    expect(await enter("debits", "501", "k2")).toMatchObject({
      status: 409,
      body: { error: { code: "INSUFFICIENT_BALANCE" } },
    });
    expect((await enter("debits", "200", "k2")).status).toBe(201);
    expect(await walletOf(walletId).state()).toMatchObject({ availableMinor: 300n, heldMinor: 0n });
  });

  it("under an operator's key cannot take the place of a paid call's", async () => {
    const market = await aMarket();
    const transactionId = await market.hold();
    await operate(
      "POST",
      `/v1/wallets/${market.payee.walletId}/credits`,
      { amountMinor: "1", reason: "x" },
      { "idempotency-key": `credit:${transactionId}` },
    );
    await market.complete(transactionId);
    expect((await market.balances()).earned).toBe(101);
  });

  it("page newest first without gap or double, and sum to the balance", async () => {
    const market = await aMarket({ balance: "1000" });
    await market.complete(await market.hold());
    await market.release(await market.hold());
    await market.hold();
    const entries = await entriesOf(market.buyer.walletId, 2);
    expect(entries.map(({ kind }) => kind)).toEqual(["hold", "release", "hold", "capture", "hold", "credit"]);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(6);
    const sum = (kind: string) =>
      entries.reduce((total, entry) => total + (entry.kind === kind ? Number(entry.amountMinor) : 0), 0);
    const { available, held } = await market.balances();
    expect(available).toBe(sum("credit") - sum("debit") - sum("hold") + sum("release"));
    expect(held).toBe(sum("hold") - sum("capture") - sum("release"));
  });

  it("can be neither changed nor deleted, not even by the wallet", async () => {
    const { walletId } = await aWallet();
    await give(walletId, "5");
    for (const statement of ["UPDATE entries SET amount_minor = '9'", "DELETE FROM entries"]) {
      const thrown = await runInDurableObject(walletOf(walletId), (_instance, { storage }) => {
        try {
          storage.sql.exec(statement);
          return "nothing";
        } catch (error) {
          return String(error);
        }
      });
      expect(thrown).toContain("append-only");
    }
  });
});

describe("a wallet's books", () => {
  it("that do not add up refuse every write", async () => {
    const { walletId } = await aWallet();
    await give(walletId, "5");
    await runInDurableObject(walletOf(walletId), (_instance, { storage }) => {
      storage.sql.exec("UPDATE wallet SET available_minor = '6'");
    });
    const refused = await runInDurableObject(walletOf(walletId), async (instance) => {
      const wallet = instance as WalletObject;
      const entry = { source: "operator", id: "k", amountMinor: 1n, atMs: 0 } as const;
      return wallet.credit(entry).then(() => "done", String);
    });
    expect(refused).toContain("the sum of all accounts is zero");
  });

  it("are not made by asking about a wallet that does not exist", async () => {
    const answer = await api("GET", "/v1/wallets/wal_nobody", { token: operator });
    expect(answer.status).toBe(404);
    expect(await tablesOf(walletOf("wal_nobody"))).toBe(0);
  });
});
