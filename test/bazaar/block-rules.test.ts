// C30: the specification's own rules for a block, each refusal naming its field.

import { declareDiscoveryExtension, validateDiscoveryExtension } from "@x402/extensions/bazaar";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aBlock, aBodyBlock, anObservation, aToolBlock, type Json, reasonOf } from "../support/bazaar.ts";

describe("C30: the specification's own rules", () => {
  const cases: [string, unknown, string][] = [
    [
      "an empty schema",
      aBlock({}, { schema: {} }),
      "schema.properties.input is missing: the schema must define input",
    ],
    ["schema true", aBlock({}, { schema: true }), "schema must be an object"],
    [
      "a schema of the body",
      aBlock({}, { schema: { properties: { query: {} } } }),
      "schema.properties.input is missing: the schema must define input",
    ],
    ["empty info", { info: {}, schema: {} }, "info.input must be an object"],
    ["no info", { schema: {} }, "info must be an object"],
    ["no type", aBlock({ type: undefined }), 'info.input.type must be "http" or "mcp"'],
    ["another type", aBlock({ type: "grpc" }), 'info.input.type must be "http" or "mcp"'],
    ["GET with bodyType", aBlock({ bodyType: "json" }), "info.input.bodyType must be absent for GET"],
    ["DELETE with body", aBlock({ method: "DELETE", body: {} }), "info.input.body must be absent for DELETE"],
    [
      "lower-case method",
      aBlock({ method: "get" }),
      "info.input.method must be one of GET, HEAD, DELETE, POST, PUT, PATCH",
    ],
    [
      "TRACE",
      aBlock({ method: "TRACE" }),
      "info.input.method must be one of GET, HEAD, DELETE, POST, PUT, PATCH",
    ],
    [
      "no method",
      aBlock({ method: undefined }),
      "info.input.method must be one of GET, HEAD, DELETE, POST, PUT, PATCH",
    ],
    [
      "POST without bodyType",
      aBodyBlock("POST", { bodyType: undefined }),
      "info.input.bodyType must be one of json, form-data, text",
    ],
    [
      "POST with another bodyType",
      aBodyBlock("POST", { bodyType: "xml" }),
      "info.input.bodyType must be one of json, form-data, text",
    ],
    [
      "POST without body",
      aBodyBlock("POST", { body: undefined }),
      "info.input.body must be an object or a string",
    ],
    ["POST with null", aBodyBlock("POST", { body: null }), "info.input.body must be an object or a string"],
    ["query as text", aBlock({ queryParams: "city=Oslo" }), "info.input.queryParams must be an object"],
    ["headers as list", aBlock({ headers: [] }), "info.input.headers must be an object"],
    [
      "a tool without a name",
      aToolBlock({ toolName: undefined }),
      "info.input.toolName must be a name of 1 to 256 characters",
    ],
    [
      "an empty name",
      aToolBlock({ toolName: "" }),
      "info.input.toolName must be a name of 1 to 256 characters",
    ],
    [
      "a number for `tool`",
      aToolBlock({ toolName: undefined, tool: 7 }),
      "info.input.tool must be a name of 1 to 256 characters",
    ],
    [
      "two different names",
      aToolBlock({ toolName: "a", tool: "b" }),
      "info.input.toolName and info.input.tool must not differ",
    ],
    [
      "a name with a control character",
      aToolBlock({ toolName: "a\u0000b" }),
      "info.input.toolName must be a name of 1 to 256 characters",
    ],
    [
      "a tool without inputSchema",
      aToolBlock({ inputSchema: undefined }),
      "info.input.inputSchema must be an object",
    ],
    [
      "another transport",
      aToolBlock({ transport: "stdio" }),
      "info.input.transport must be one of streamable-http, sse",
    ],
  ];
  it.each(cases)("refuses %s and names the field", (_what, block, reason) => {
    expect(reasonOf(block)).toBe(reason);
  });

  it.each([
    ["each query method", ["GET", "HEAD", "DELETE"].map((method) => aBlock({ method }))],
    ["each body method", ["POST", "PUT", "PATCH"].map((method) => aBodyBlock(method))],
    ["each body type", ["json", "form-data", "text"].map((bodyType) => aBodyBlock("POST", { bodyType }))],
    ["a text body", [aBodyBlock("POST", { bodyType: "text", body: "hello" })]],
    ["both transports", ["streamable-http", "sse"].map((transport) => aToolBlock({ transport }))],
    ["the same name twice", [aToolBlock({ tool: "get_weather" })]],
    [
      "info five levels deep with extra keys",
      [aBlock({ queryParams: { a: { b: { c: { d: { e: 1 } } } } }, extra: 7 })],
    ],
    ["path parameters", [aBlock({ pathParams: { id: "1" } }, { routeTemplate: "/:id" })]],
  ])("accepts %s", (_what, blocks) => {
    for (const block of blocks) expect(reasonOf(block)).toBe("accepted");
  });

  it("accepts AgentPay's and B402's block, which say `tool`, and the SDK's, which says `toolName`", () => {
    const schemaOf = (name: string) => ({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      required: ["input"],
      properties: {
        input: {
          type: "object",
          required: ["type", name, "inputSchema"],
          properties: {
            type: { const: "mcp" },
            [name]: { type: "string" },
            description: { type: "string" },
            transport: { enum: ["streamable-http", "sse"] },
            inputSchema: { type: "object" },
            example: { type: "object" },
          },
          additionalProperties: false,
        },
        output: { type: "object" },
      },
    });
    const input = { type: "mcp", transport: "streamable-http", inputSchema: { type: "object" }, example: {} };
    const blockOf = (name: string) => ({
      info: { input: { ...input, [name]: "agentpay.x402_pay" } },
      schema: schemaOf(name),
    });
    for (const name of ["tool", "toolName"]) {
      const observation = anObservation({ block: blockOf(name) });
      expect(observation).toMatchObject({ type: "mcp", toolName: "agentpay.x402_pay", method: null });
      expect(observation.bazaar).toEqual(blockOf(name));
    }
    const declared = declareDiscoveryExtension({
      toolName: "agentpay.x402_pay",
      inputSchema: { type: "object" },
    }) as unknown as { bazaar: Json };
    expect(anObservation({ block: declared.bazaar }).toolName).toBe("agentpay.x402_pay");
    // As sent: a schema that wants the other name is not helped.
    expect(reasonOf({ ...blockOf("tool"), schema: schemaOf("toolName") })).not.toBe("accepted");
  });

  it("accepts no block that the published validator of info against schema refuses", () => {
    const field = fc.constantFrom("type", "method", "queryParams", "output");
    const change = fc.tuple(field, fc.constantFrom(undefined, 7, "x", "GET", {}, null));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 2 }), (changes) => {
        const strict = {
          type: "object",
          required: ["input"],
          properties: {
            input: {
              type: "object",
              required: ["type", "method"],
              properties: {
                type: { const: "http" },
                method: { enum: ["GET"] },
                queryParams: { type: "object" },
              },
              additionalProperties: false,
            },
          },
        };
        const block = JSON.parse(JSON.stringify(aBlock(Object.fromEntries(changes), { schema: strict })));
        if (reasonOf(block) === "accepted") expect(validateDiscoveryExtension(block).valid).toBe(true);
      }),
    );
  });
});
