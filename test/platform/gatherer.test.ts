import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { GATHER_MS, Gatherer } from "../../src/platform/gatherer.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const ctx = { waitUntil: () => undefined };

function recording() {
  const written: number[][] = [];
  const write = async (items: readonly number[]) => void written.push([...items]);
  return { written, write };
}

it("writes what came within half a second together, and what came later the next time", async () => {
  const { written, write } = recording();
  const gatherer = new Gatherer<number>("test", 10);
  gatherer.add(1, write, ctx);
  await vi.advanceTimersByTimeAsync(GATHER_MS - 1);
  gatherer.add(2, write, ctx);
  await vi.advanceTimersByTimeAsync(1);
  gatherer.add(3, write, ctx);
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  expect(written).toEqual([[1, 2], [3]]);
});

it("leaves what is more than one write takes", async () => {
  const { written, write } = recording();
  const gatherer = new Gatherer<number>("test", 2);
  for (const item of [1, 2, 3]) gatherer.add(item, write, ctx);
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  expect(written).toEqual([[1, 2]]);
});

it("goes on after a write that failed, and says how much was put off", async () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  const { written, write } = recording();
  const gatherer = new Gatherer<number>("test", 10);
  gatherer.add(1, () => Promise.reject(new Error("D1 is away")), ctx);
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  expect(log.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
    { event: "test_postponed", count: 1 },
  ]);
  gatherer.add(2, write, ctx);
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  expect(written).toEqual([[2]]);
});

it("is taken up by somebody else when whoever began it was cut off", async () => {
  const { written, write } = recording();
  const gatherer = new Gatherer<number>("test", 10);
  gatherer.add(1, write, ctx);
  vi.clearAllTimers();
  await vi.advanceTimersByTimeAsync(9_000);
  gatherer.add(2, write, ctx);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(written).toEqual([]);
  gatherer.add(3, write, ctx);
  await vi.advanceTimersByTimeAsync(GATHER_MS);
  expect(written).toEqual([[1, 2, 3]]);
});
