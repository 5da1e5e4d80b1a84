import { describe, expect, it } from "vitest";
import { readBounded } from "../../src/platform/bounded-body.ts";

const MAX = 10;

/** A body in chunks of four bytes, and how many of them were taken. */
function body(bytes: number, headers: Record<string, string> = {}) {
  let taken = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const size = Math.min(4, bytes - taken);
        if (size === 0) return controller.close();
        taken += size;
        controller.enqueue(new Uint8Array(size).fill(7));
      },
    },
    { highWaterMark: 0 },
  );
  return { message: new Response(stream, { headers }), taken: () => taken };
}

describe("a body of at most ten bytes", () => {
  it.each([
    ["states its length", { "content-length": "10" }],
    ["states none", {}],
    [
      "states one that says nothing, because it is compressed",
      { "content-length": "3", "content-encoding": "gzip" },
    ],
    ["states nonsense", { "content-length": "ten" }],
  ])("that %s is read whole", async (_name, headers: Record<string, string>) => {
    expect((await readBounded(body(10, headers).message, MAX))?.byteLength).toBe(10);
  });

  it.each([
    ["states its length", { "content-length": "11" }],
    ["states none", {}],
    ["is compressed and states less", { "content-length": "3", "content-encoding": "gzip" }],
    ["lies about its length", { "content-length": "3" }],
  ])("that is longer and %s is refused", async (_name, headers: Record<string, string>) => {
    expect(await readBounded(body(11, headers).message, MAX)).toBeNull();
  });

  it("is nothing where there is none", async () => {
    expect((await readBounded(new Response(null), MAX))?.byteLength).toBe(0);
  });
});

describe("what is longer", () => {
  it("is left where it is", async () => {
    const endless = body(1_000);
    expect(await readBounded(endless.message, MAX)).toBeNull();
    expect(endless.taken()).toBe(12);
  });

  it("is read away as far as is asked, and no further", async () => {
    const short = body(20);
    expect(await readBounded(short.message, MAX, 20)).toBeNull();
    expect(short.taken()).toBe(20);
    const long = body(1_000);
    expect(await readBounded(long.message, MAX, 20)).toBeNull();
    expect(long.taken()).toBe(24);
  });
});
