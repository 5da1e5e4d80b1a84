// Puts a tool of an MCP server (the official SDK's McpServer) behind a price.
//
//   const sell = sellTool({ gatewayUrl, providerKey, capabilityId });
//   server.registerTool("answer", { inputSchema }, sell(async ({ question }) => ({ structuredContent: ... , content: [] })));

import { decodeJson, encodeJson } from "../platform/base64-json.ts";
import { utf8 } from "../platform/bytes.ts";
import { canonicalJson } from "../platform/canonical-json.ts";
import {
  DEFAULT_MAX_RESPONSE_BYTES,
  type Produced,
  refusalBody,
  type Sale,
  Seller,
  type SellOptions,
} from "./sell.ts";
import {
  CHALLENGE_META,
  kindOfPayment,
  PAYMENT_META,
  RECEIPT_META,
  type Receipt,
  X402_PAYMENT_META,
} from "./wire.ts";

/** What is used of a tool's result: the SDK's CallToolResult fits. */
export interface ToolResult {
  content: { type: string; [member: string]: unknown }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
  [member: string]: unknown;
}

/** What the SDK passes beside a tool's arguments. */
export interface ToolExtra {
  _meta?: Record<string, unknown> | undefined;
}

/** A tool with an input schema is called with arguments and extra, one without with extra alone. */
export type ToolHandler<Args extends unknown[], Result extends ToolResult> = (
  ...args: Args
) => Promise<Result> | Result;

export interface SellToolOptions extends SellOptions {
  /**
   * The tool declares an `outputSchema`. Clients of the official SDK check `structuredContent` against it even in an
   * error, so the price quote then stands in `_meta` alone, and refusals in the text.
   */
  hasOutputSchema?: boolean;
  /**
   * For a tool that is sold by x402, too: its PaymentRequired, which then stands in the `structuredContent` of a price
   * quote, and the handler for calls that bring an x402 payment.
   */
  x402?: {
    paymentRequired: Record<string, unknown>;
    /** Gets what the tool's handler would get. */
    onPayment: (args: unknown[]) => Promise<ToolResult>;
  };
}

/** The bytes that a tool's receipt is over: canonical JSON of `structuredContent`, or of `content` where there is none. */
export function hashedBytesOf(
  result: Pick<ToolResult, "content" | "structuredContent">,
): Uint8Array<ArrayBuffer> {
  return utf8(canonicalJson(result.structuredContent ?? result.content ?? []));
}

/** Wraps a tool's handler: it runs once per payment, and its result goes out only once it is paid for. */
export function sellTool(options: SellToolOptions) {
  const seller = new Seller(options);
  const call = async <Args extends unknown[]>(handler: ToolHandler<Args, ToolResult>, args: Args) => {
    const meta = (args.at(-1) as ToolExtra | undefined)?._meta ?? {};
    const carried = meta[PAYMENT_META] ?? meta[X402_PAYMENT_META];
    if (options.x402 && carried !== undefined && typeof carried !== "string") {
      return options.x402.onPayment(args);
    }
    if (typeof carried !== "string") return answer(await seller.quote(), options);
    const payment = decodeJson(carried);
    if (kindOfPayment(payment) !== "proof") {
      return failure("INVALID_REQUEST", "the payment in _meta is no proof", options);
    }
    return answer(await seller.sell(payment, () => produce(handler, args, options)), options);
  };
  return <Args extends unknown[], Result extends ToolResult>(handler: ToolHandler<Args, Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        // What is not the handler's own result is an error result, which every tool may answer.
        return (await call(handler, args)) as Result;
      } catch (cause) {
        options.onError?.(cause);
        const message = "the payment could not be handled; nothing was delivered";
        return failure("GATEWAY_UNREACHABLE", message, options) as Result;
      }
    };
}

function answer(sale: Sale<ToolResult>, options: SellToolOptions): ToolResult {
  switch (sale.outcome) {
    case "price": {
      const { challenge } = sale;
      const message = `this call costs ${challenge.amountMinor} minor units of ${challenge.currency}`;
      const body = { error: { code: "PAYMENT_REQUIRED", message }, challenge };
      const quote = { ...errorResult(body, options), _meta: { [CHALLENGE_META]: challenge } };
      return options.x402 ? { ...quote, structuredContent: options.x402.paymentRequired } : quote;
    }
    case "refused":
      return errorResult(refusalBody(sale.refusal), options);
    case "delivered":
      return withReceipt(sale.response, sale.receipt);
    case "failed": {
      const broken = () => failure("PROVIDER_ERROR", "the call failed; the payment is returned", options);
      return withReceipt(sale.response ?? broken(), sale.receipt);
    }
  }
}

async function produce<Args extends unknown[]>(
  handler: ToolHandler<Args, ToolResult>,
  args: Args,
  options: SellToolOptions,
): Promise<Produced<ToolResult>> {
  const { maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES } = options;
  const result = await handler(...args);
  const failed = (response: ToolResult, error: string) =>
    ({ ok: false, response, kind: "provider_error", error }) as const;
  if (result.isError) return failed(result, "the tool answered isError");
  // What goes out is what was hashed: members that JSON cannot hold are gone before both.
  const response = JSON.parse(JSON.stringify(result)) as ToolResult;
  const bytes = hashedBytesOf(response);
  if (bytes.byteLength <= maxResponseBytes) return { ok: true, response, bytes };
  const tooLarge = failure("PROVIDER_ERROR", "the result was too large; the payment is returned", options);
  return failed(tooLarge, `the result is larger than ${maxResponseBytes} bytes`);
}

function withReceipt(result: ToolResult, receipt: Receipt | undefined): ToolResult {
  return receipt ? { ...result, _meta: { ...result._meta, [RECEIPT_META]: encodeJson(receipt) } } : result;
}

function failure(code: string, message: string, options: SellToolOptions): ToolResult {
  return errorResult({ error: { code, message } }, options);
}

/** An error that a model can read as text, and a program as text or structure. */
function errorResult(body: Record<string, unknown>, { hasOutputSchema }: SellToolOptions): ToolResult {
  const result = { isError: true, content: [{ type: "text", text: JSON.stringify(body) }] };
  return hasOutputSchema ? result : { ...result, structuredContent: body };
}
