// C44: what the queue does to messages: twice, out of order, broken, given up. Storage is shared by the tests of this
// file, so each uses hosts and payTos of its own.

import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { CatalogMessage } from "../../src/bazaar/catalog/observation.ts";
import { aMessage, type Json } from "../support/bazaar.ts";
import { anAddress, deliver, deliverDead, endOf, eventually, get, listedBy, paying } from "./catalog.ts";

/** Cannot be read, so the queue tries it again until it gives it up: that takes a while, beside the other tests. */
const hopeless = {
  ...aMessage({ url: "https://hopeless.shop.test/a" }),
  settledAtMs: "yesterday",
} as unknown as CatalogMessage;
beforeAll(() => env.CATALOG_QUEUE.send(hopeless));

describe("C44: duplicates, order, size and poison", () => {
  it("1,000 duplicated and shuffled messages leave the same catalog as one ordered pass", {
    timeout: 180_000,
  }, async () => {
    const payTos = [anAddress(), anAddress(), anAddress()] as const;
    const payers = Array.from({ length: 8 }, anAddress);
    const message = fc.record({
      path: fc.integer({ min: 0, max: 11 }),
      payTo: fc.constantFrom(...payTos),
      payer: fc.constantFrom(...payers),
      amount: fc.integer({ min: 1, max: 50 }),
      at: fc.integer({ min: 0, max: 600_000 }),
      name: fc.constantFrom("Alpha", "Beta", "Gamma"),
      shuffled: fc.double({ noNaN: true }),
    });
    const [drafts] = fc.sample(fc.array(message, { minLength: 500, maxLength: 500 }), {
      numRuns: 1,
      seed: 7,
    });
    const startMs = Date.now() - 700_000;
    const catalogAfter = async (host: string, order: "in order" | "shuffled twice") => {
      const messages = (drafts ?? []).map((draft, i) => ({
        shuffled: draft.shuffled,
        message: aMessage({
          settlementId: `${host}${i}`,
          url: `https://${host}.shop.test/${draft.path}`,
          settledAtMs: startMs + draft.at,
          payer: draft.payer,
          resource: { serviceName: draft.name, description: `${draft.name} ${draft.amount}` },
          requirements: paying(draft.payTo, { amount: `${draft.amount}` }),
        }),
      }));
      const twice = [...messages, ...messages.map((m) => ({ ...m, shuffled: (m.shuffled * 7919) % 1 }))];
      const ordered =
        order === "in order"
          ? messages.toSorted((a, b) => a.message.settledAtMs - b.message.settledAtMs)
          : twice.toSorted((a, b) => a.shuffled - b.shuffled);
      await deliver(ordered.map((m) => m.message));
      const rows = await env.DB.prepare(
        `SELECT resource, service_name, description, owner_pay_to, calls_30d, payers_30d, text_hash = indexed_hash AS indexed
         FROM listings WHERE host = ?1 ORDER BY resource`,
      )
        .bind(`${host}.shop.test`)
        .all<Json>();
      const offers = await env.DB.prepare(
        `SELECT l.resource, o.pay_to, o.amount, o.usd_micros FROM offers o JOIN listings l ON l.id = o.listing_id
         WHERE l.host = ?1 ORDER BY l.resource, o.pay_to`,
      )
        .bind(`${host}.shop.test`)
        .all<Json>();
      return JSON.parse(JSON.stringify([rows.results, offers.results]).replaceAll(host, "HOST"));
    };
    const inOrder = await catalogAfter("ordered", "in order");
    const shuffled = await catalogAfter("shuffled", "shuffled twice");
    expect(inOrder[0]).toHaveLength(12);
    expect(inOrder[0].every((row: Json) => row.indexed === 1)).toBe(true);
    expect(shuffled).toEqual(inOrder);
  });

  it("acknowledges each message by itself and retries only the one that failed", async () => {
    const payTo = anAddress();
    const good = (i: number) =>
      aMessage({ url: `https://batch.shop.test/${i}`, requirements: paying(payTo) });
    const broken = { ...good(3), observation: { ...good(3).observation, bazaar: "not an object" } };
    const [result] = await deliver([good(0), good(1), broken, good(4)]);
    expect(result).toMatchObject({ explicitAcks: ["0", "1", "3"], retryMessages: [{ msgId: "2" }] });
    expect((await listedBy(payTo)).length).toBe(3);
  });

  it("a poison message comes back as a dead letter and ends as visible `rejected`, with no harm to its batch", async () => {
    const payTo = anAddress();
    const poison = aMessage({ url: "https://poison.shop.test/a", requirements: paying(payTo) });
    const good = aMessage({ url: "https://antidote.shop.test/a", requirements: paying(payTo) });
    await deliverDead([{ ...poison, settledAtMs: "yesterday" }, "not even an object", null]);
    await deliver([good]);
    expect(await endOf(poison)).toMatchObject({
      status: "rejected",
      rejectedReason: "could not be stored",
      resource: "https://poison.shop.test/a",
    });
    expect((await listedBy(payTo)).length).toBe(1);
    // What ended well before stays so when its copy dies.
    await deliverDead([good]);
    expect((await endOf(good)).status).toBe("success");
    // And a dead letter that is replayed by an operator is listed after all.
    await deliver([poison]);
    expect((await endOf(poison)).status).toBe("success");
  });

  it("C45: stores a resource with more offers than one statement has parameters", async () => {
    const payTo = anAddress();
    const networks = Array.from({ length: 30 }, (_, i) => `eip155:${9_000 + i}`);
    await deliver(
      networks.map((network) =>
        aMessage({ url: "https://thirty.shop.test/a", requirements: paying(payTo, { network }) }),
      ),
    );
    const [row] = await listedBy(payTo);
    expect(row?.accepts).toHaveLength(30);
  });
});

describe("C44: a message that the queue gives up", () => {
  it("ends as visible `rejected` by the dead-letter queue, and /health counts it", {
    timeout: 120_000,
  }, async () => {
    const ended = await eventually(async () => {
      const end = await endOf(hopeless);
      return end.status === "rejected" ? end : undefined;
    });
    expect(ended).toMatchObject({
      rejectedReason: "could not be stored",
      resource: "https://hopeless.shop.test/a",
    });
    const health = await get("/health");
    const lost = (health.body.checks as Json[]).find(({ name }) => name === "lost observations");
    expect(lost).toMatchObject({
      ok: false,
      detail: expect.stringMatching(
        /^[1-9]\d* in the last day, [1-9]\d* in the last month could not be stored$/,
      ),
    });
  });
});
