// The Bazaar specification's own rules for `info` (tables "Input Types"), applied besides the sender's schema: a schema
// that lets everything through must not make a listing that nobody can call. Each problem names its field.

export const QUERY_METHODS = ["GET", "HEAD", "DELETE"] as const;
export const BODY_METHODS = ["POST", "PUT", "PATCH"] as const;
const BODY_TYPES = ["json", "form-data", "text"] as const;
const TRANSPORTS = ["streamable-http", "sse"] as const;

/** MCP clients cut or refuse longer names. */
const MAX_TOOL_NAME_CHARACTERS = 256;

export type DeclaredInput =
  | { kind: "http"; method: (typeof QUERY_METHODS)[number] | (typeof BODY_METHODS)[number] }
  | { kind: "mcp"; toolName: string; description: string | undefined };

export type RuleCheck = { ok: true; input: DeclaredInput } | { ok: false; reason: string };

/** Reads a block's `info.input` and checks that `schema` defines `input`. `block` is within its limits. */
export function checkBlockRules(block: Record<string, unknown>): RuleCheck {
  const { info, schema } = block;
  if (!isRecord(info)) return problem("info", "must be an object");
  if (!isRecord(info.input)) return problem("info.input", "must be an object");
  if (!isRecord(schema)) return problem("schema", "must be an object");
  if (!isRecord(schema.properties) || !Object.hasOwn(schema.properties, "input")) {
    return problem("schema.properties.input", "is missing: the schema must define input");
  }
  switch (info.input.type) {
    case "http":
      return checkHttp(info.input);
    case "mcp":
      return checkMcp(info.input);
    default:
      return problem("info.input.type", 'must be "http" or "mcp"');
  }
}

function checkHttp(input: Record<string, unknown>): RuleCheck {
  for (const field of ["queryParams", "headers", "pathParams"]) {
    if (input[field] !== undefined && !isRecord(input[field]))
      return problem(`info.input.${field}`, "must be an object");
  }
  const { method, bodyType, body } = input;
  if (isOneOf(QUERY_METHODS, method)) {
    if (bodyType !== undefined) return problem("info.input.bodyType", `must be absent for ${method}`);
    if (body !== undefined) return problem("info.input.body", `must be absent for ${method}`);
    return { ok: true, input: { kind: "http", method } };
  }
  if (!isOneOf(BODY_METHODS, method)) {
    return problem("info.input.method", `must be one of ${[...QUERY_METHODS, ...BODY_METHODS].join(", ")}`);
  }
  if (!isOneOf(BODY_TYPES, bodyType))
    return problem("info.input.bodyType", `must be one of ${BODY_TYPES.join(", ")}`);
  const isBody = typeof body === "string" || (typeof body === "object" && body !== null);
  if (!isBody) return problem("info.input.body", "must be an object or a string");
  return { ok: true, input: { kind: "http", method } };
}

/** The specification and the SDK say `toolName`, AgentPay and B402 say `tool`; two different names name nothing. */
function checkMcp(input: Record<string, unknown>): RuleCheck {
  const { toolName, tool, inputSchema, transport, description } = input;
  if (toolName !== undefined && tool !== undefined && toolName !== tool) {
    return problem("info.input.toolName", "and info.input.tool must not differ");
  }
  const name = toolName ?? tool;
  const field = toolName === undefined && tool !== undefined ? "info.input.tool" : "info.input.toolName";
  if (typeof name !== "string" || name.length > MAX_TOOL_NAME_CHARACTERS || !/^\P{Cc}+$/u.test(name)) {
    return problem(field, `must be a name of 1 to ${MAX_TOOL_NAME_CHARACTERS} characters`);
  }
  if (!isRecord(inputSchema)) return problem("info.input.inputSchema", "must be an object");
  if (transport !== undefined && !isOneOf(TRANSPORTS, transport)) {
    return problem("info.input.transport", `must be one of ${TRANSPORTS.join(", ")}`);
  }
  return {
    ok: true,
    input: {
      kind: "mcp",
      toolName: name,
      description: typeof description === "string" ? description : undefined,
    },
  };
}

function problem(field: string, wanted: string): { ok: false; reason: string } {
  return { ok: false, reason: `${field} ${wanted}` };
}

function isOneOf<const T extends string>(values: readonly T[], value: unknown): value is T {
  return values.includes(value as T);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
