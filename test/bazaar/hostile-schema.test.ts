// C28: what a hostile schema costs, and that no JSON makes the reader throw.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readBazaarBlock } from "../../src/bazaar/block/extension.ts";
import {
  aPayload,
  type Json,
  PUBLIC_RULES,
  reasonOf,
  someRequirements,
  withOutput,
} from "../support/bazaar.ts";

describe("C28: a hostile schema", () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [
      `a${i}`,
      { allOf: [{ $ref: `#/$defs/a${i + 1}` }, { $ref: `#/$defs/a${i + 1}` }] },
    ]),
  );
  const many = (length: number, item: (i: number) => unknown) => Array.from({ length }, (_, i) => item(i));
  const nested = (depth: number) => many(depth, () => 0).reduce<unknown>((inner) => ({ a: inner }), 1);

  it.each<[string, () => unknown, RegExp]>([
    [
      "an external reference",
      () => withOutput({ $ref: "http://169.254.169.254/" }, 1),
      /\$ref must point inside/,
    ],
    [
      "^(a+)+$",
      () => withOutput({ pattern: "^(a+)+$" }, `${"a".repeat(40)}!`),
      /^schema\.properties\.output\.pattern may take/,
    ],
    [
      "a pattern in patternProperties",
      () => withOutput({ patternProperties: { "(x*)*y": {} } }, { x: 1 }),
      /^schema\.properties\.output\.patternProperties\.\(x\*\)\*y may/,
    ],
    [
      "a quadratic pattern on a long text",
      () => withOutput({ pattern: "a+b" }, "a".repeat(50_000)),
      /pattern may take/,
    ],
    [
      "many linear patterns on a long text",
      () =>
        withOutput({ allOf: many(300, () => ({ $ref: "#/$defs/p" })) }, "a".repeat(50_000), {
          $defs: { p: { pattern: "^a*b" } },
        }),
      /too much work/,
    ],
    [
      "a pattern of many characters",
      () => withOutput({ allOf: many(30, (i) => ({ pattern: `${i}${"ab?".repeat(150)}` })) }, "a"),
      /patterns too long|linear time/,
    ],
    ["self reference", () => withOutput({ $ref: "#/properties/output" }, 1), /without end/],
    [
      "mutual reference",
      () =>
        withOutput({ $ref: "#/$defs/a" }, 1, {
          $defs: { a: { not: { $ref: "#/$defs/b" } }, b: { not: { $ref: "#/$defs/a" } } },
        }),
      /without end/,
    ],
    [
      "references that double",
      () => withOutput({ $ref: "#/$defs/a0" }, 1, { $defs: { ...doubling, a100: {} } }),
      /too much work/,
    ],
    [
      "branches at every level",
      () =>
        withOutput({ $ref: "#/$defs/n" }, nested(27), {
          $defs: { n: { properties: { a: { anyOf: many(9, () => ({ $ref: "#/$defs/n" })) } } } },
        }),
      /too much work/,
    ],
    ["200 KiB", () => withOutput({ const: "x".repeat(200 * 1024) }, 1), /larger than 65536 bytes/],
    [
      "64 KiB of two-byte characters",
      () => withOutput({ const: "é".repeat(33_000) }, 1),
      /larger than 65536 bytes/,
    ],
    ["depth 33", () => withOutput({ const: nested(31) }, 1), /nested deeper than 32/],
    [
      "depth 100,000",
      () => withOutput({ const: JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) }, 1),
      /nested deeper than 32/,
    ],
    ["2,001 values", () => withOutput({ enum: many(2_001, (i) => i) }, 1), /more than 2000 values/],
    [
      "unique items of many",
      () =>
        withOutput(
          { uniqueItems: true },
          many(900, (i) => ({ a: i })),
        ),
      /too much work/,
    ],
    [
      "names that are all missing, many times",
      () =>
        withOutput(
          { contains: { required: many(800, (i) => `k${i}`) } },
          many(900, () => ({})),
        ),
      /too much work/,
    ],
    [
      "a long constant compared many times",
      () =>
        withOutput(
          { contains: { const: "x".repeat(40_000) } },
          many(900, () => 1),
        ),
      /too much work/,
    ],
    [
      "a long enumeration",
      () =>
        withOutput(
          { contains: { enum: many(900, (i) => i) } },
          many(900, () => -1),
        ),
      /too much work/,
    ],
    [
      "long keys visited many times",
      () =>
        withOutput(
          { allOf: many(600, () => ({ $ref: "#/$defs/a" })) },
          { ["k".repeat(30_000)]: 1 },
          { $defs: { a: { additionalProperties: {} } } },
        ),
      /too much work/,
    ],
    [
      "long names in the schema",
      () => withOutput({ properties: { ["k".repeat(30_000)]: {} } }, {}),
      /has a name longer than 256/,
    ],
    [
      "unevaluated properties",
      () =>
        withOutput(
          { allOf: many(200, () => ({ $ref: "#/$defs/a" })) },
          Object.fromEntries(many(900, (i) => [`a${i}`, 1]) as [string, number][]),
          {
            $defs: {
              a: {
                unevaluatedProperties: { type: "string" },
                anyOf: many(200, () => ({ properties: { a0: {} } })),
              },
            },
          },
        ),
      /too much work/,
    ],
    [
      "a multiple of almost nothing",
      () => withOutput({ multipleOf: 5e-324 }, 1.7e308),
      /accepted|multipleOf/,
    ],
    [
      "names of the prototype",
      () =>
        withOutput(
          {
            properties: { __proto__: 1, constructor: { type: "string" }, toString: {} },
            required: ["valueOf"],
          },
          { constructor: "x" },
        ),
      /valueOf is missing/,
    ],
    [
      "lone surrogates",
      () => withOutput({ properties: { "\ud800": {} } }, { "\ud800": 1 }),
      /cannot be evaluated/,
    ],
    [
      "a schema that is no schema",
      () => withOutput({ type: "any" }, 1),
      /^schema\.properties\.output\.type must name JSON types/,
    ],
  ])("costs less than 50 ms: %s", (_what, make, reason) => {
    const [payload, requirements] = aPayload();
    // A shared machine may stop us for longer than that, so of three; each block is another, for what was found about
    // the first is remembered.
    const times = [1, 2, 3].map((round) => {
      payload.extensions = { bazaar: { ...(make() as Json), round } };
      const start = performance.now();
      const reading = readBazaarBlock(payload, requirements, PUBLIC_RULES);
      const took = performance.now() - start;
      expect(reading.kind === "rejected" ? reading.reason : reading.kind).toMatch(reason);
      return took;
    });
    expect(Math.min(...times)).toBeLessThan(50);
  });

  it("never throws, whatever JSON stands in the payload", () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 4 }),
        fc.json({ maxDepth: 4 }),
        fc.json(),
        (block, resource, requirements) => {
          const payload = {
            x402Version: 2,
            resource: JSON.parse(resource),
            extensions: { bazaar: JSON.parse(block) },
          };
          expect(["absent", "rejected", "accepted"]).toContain(
            readBazaarBlock(payload, JSON.parse(requirements), PUBLIC_RULES).kind,
          );
        },
      ),
      { numRuns: 2_000 },
    );
    for (const extensions of [undefined, null, [], "x", {}, { other: {} }, { bazaar: null }]) {
      expect(readBazaarBlock({ x402Version: 2, extensions }, someRequirements(), PUBLIC_RULES)).toEqual({
        kind: "absent",
      });
    }
    for (const block of [[], "x", 7, true]) {
      expect(reasonOf(block)).toBe("extensions.bazaar must be an object");
    }
  });
});
