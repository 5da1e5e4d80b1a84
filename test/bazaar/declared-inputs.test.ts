// What a listing says a call takes: read from a seller's JSON, whatever that is.

import fc from "fast-check";
import { expect, it } from "vitest";
import {
  declaredInputs,
  inputSchemaOf,
  MAX_FIELDS,
  outputExampleOf,
} from "../../src/bazaar/catalog/declared-inputs.ts";
import { exampleRequest } from "../../src/bazaar/catalog/example-request.ts";
import type { Resource } from "../../src/bazaar/catalog/resource.ts";

function aResource(bazaar: unknown, changes: Partial<Resource> = {}): Resource {
  return {
    resource: "https://a.test/x",
    type: "http",
    method: "GET",
    extensions: { bazaar },
    ...changes,
  } as Resource;
}

const inputSchema = (properties: object) => ({ properties: { input: { properties } } });

it("joins schema and example by name, path first, and says what is required", () => {
  const resource = aResource(
    {
      info: { input: { queryParams: { city: "Oslo", days: 3, extra: null }, pathParams: {} } },
      schema: inputSchema({
        queryParams: {
          properties: {
            city: { type: "string", description: "A city" },
            days: { type: ["integer", "null"] },
            units: { enum: ["metric", "imperial"] },
          },
          required: ["city"],
        },
      }),
    },
    { resource: "https://a.test/users/:userId/x", exampleUrl: "https://a.test/users/1/x" },
  );
  expect(declaredInputs(resource)).toEqual({
    fields: [
      { place: "path", name: "userId", type: "", isRequired: true, description: "", example: "" },
      {
        place: "query",
        name: "city",
        type: "string",
        isRequired: true,
        description: "A city",
        example: '"Oslo"',
      },
      {
        place: "query",
        name: "days",
        type: "integer or null",
        isRequired: false,
        description: "",
        example: "3",
      },
      {
        ...{ place: "query", name: "units", type: 'one of "metric", "imperial"' },
        ...{ isRequired: false, description: "", example: "" },
      },
      { place: "query", name: "extra", type: "", isRequired: false, description: "", example: "null" },
    ],
    leftOut: 0,
  });
});

it("reads a tool's own schema, and counts what it does not show", () => {
  const properties = Object.fromEntries(
    Array.from({ length: MAX_FIELDS + 7 }, (_, i) => [`p${i}`, { type: "number" }]),
  );
  const resource = aResource({ info: { input: { inputSchema: { properties } } } }, { type: "mcp" });
  expect(declaredInputs(resource)).toMatchObject({ fields: { length: MAX_FIELDS }, leftOut: 7 });
  expect(inputSchemaOf(resource)).toEqual({ properties });
});

it("never throws and never answers an unbounded text, on any JSON", () => {
  const part = fc.jsonValue({ maxDepth: 4 });
  const block = fc.record(
    {
      info: fc.oneof(
        part,
        fc.record({
          input: fc.oneof(
            part,
            fc.dictionary(fc.constantFrom("queryParams", "body", "inputSchema", "example", "bodyType"), part),
          ),
          output: part,
        }),
      ),
      schema: fc.oneof(part, fc.record({ properties: fc.oneof(part, fc.record({ input: part })) })),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(part, block), fc.constantFrom("http" as const, "mcp" as const), (bazaar, type) => {
      const resource = aResource(bazaar, { type, toolName: "t" });
      const { fields } = declaredInputs(resource);
      expect(fields.length).toBeLessThanOrEqual(MAX_FIELDS);
      for (const field of fields) {
        for (const text of Object.values(field)) expect(String(text).length).toBeLessThanOrEqual(201);
      }
      inputSchemaOf(resource);
      outputExampleOf(resource);
      exampleRequest(resource);
    }),
    { numRuns: 500 },
  );
});
