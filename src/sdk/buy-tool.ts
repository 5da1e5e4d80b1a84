// Buys one tool call of an MCP server from a custodial balance, through a client of the official SDK.
//
//   const buy = buyTools({ gatewayUrl, walletId, agentId, paymentKeySeed });
//   const bought = await buy(client, { name: "answer", arguments: { question } }, { maxMinor: 100n });

import { decodeJson, encodeJson } from "../platform/base64-json.ts";
import { type Answer, type Bought, Buyer, type Send } from "./buy.ts";
import type { BuyerOptions, Limit } from "./buyer-wallet.ts";
import { hashedBytesOf, type ToolResult } from "./sell-tool.ts";
import { CHALLENGE_META, PAYMENT_META, RECEIPT_META } from "./wire.ts";

export interface ToolCall {
  name: string;
  arguments?: Record<string, unknown>;
}

/** What is used of the SDK's Client. */
export interface ToolClient {
  callTool(params: ToolCall & { _meta?: Record<string, unknown> }): Promise<unknown>;
}

/** Makes a function that buys tool calls, with the buyer's bounds for each. */
export function buyTools(options: BuyerOptions) {
  const buyer = new Buyer(options);
  return (client: ToolClient, call: ToolCall, limit: Limit): Promise<Bought<ToolResult>> => {
    const send: Send<ToolResult> = async (proof) => {
      const _meta = proof ? { [PAYMENT_META]: encodeJson(proof) } : undefined;
      return answerOf((await client.callTool(_meta ? { ...call, _meta } : call)) as ToolResult);
    };
    return buyer.buy(send, limit, { url: null, toolName: call.name });
  };
}

function answerOf(result: ToolResult): Answer<ToolResult> {
  const { [CHALLENGE_META]: challenge, [RECEIPT_META]: receipt } = result._meta ?? {};
  const isPrice = result.isError === true && challenge !== undefined;
  return {
    response: result,
    bytes: hashedBytesOf(result),
    ...(isPrice ? { challenge } : {}),
    ...(receipt === undefined
      ? {}
      : { receipt: typeof receipt === "string" ? (decodeJson(receipt) ?? null) : null }),
    ...(isPrice ? {} : refusalOf(result)),
  };
}

type RefusalBody = Partial<Omit<NonNullable<Answer<ToolResult>["refusal"]>, "code" | "message">> & {
  error?: { code?: unknown; message?: unknown };
};

function refusalOf(result: ToolResult): Pick<Answer<ToolResult>, "refusal"> {
  if (result.isError !== true) return {};
  const { error, decision, approvalId } = (result.structuredContent ??
    bodyInText(result) ??
    {}) as RefusalBody;
  if (typeof error?.code !== "string") return {};
  return {
    refusal: {
      code: error.code,
      message: typeof error.message === "string" ? error.message : "",
      ...(decision === undefined ? {} : { decision }),
      ...(approvalId === undefined ? {} : { approvalId }),
    },
  };
}

function bodyInText({ content }: ToolResult): unknown {
  const text = content?.[0]?.text;
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : undefined;
  } catch {
    return undefined;
  }
}
