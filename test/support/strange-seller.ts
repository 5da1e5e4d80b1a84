// A seller that does what a test says, once it was paid: for what published sellers never do. Node only.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { PaymentRequirements } from "@x402/core/types";
import { NETWORK } from "../../scripts/chain/addresses.ts";
import { encodeJson } from "../../src/platform/base64-json.ts";

export type Act = (request: IncomingMessage, response: ServerResponse, paid: string | undefined) => void;

/** A seller that does what the test says; without a payment it asks for these. */
export async function withSeller(
  accepts: PaymentRequirements[],
  act: Act,
  work: (url: string, sent: string[]) => Promise<void>,
): Promise<void> {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    const paid = request.headers["payment-signature"] as string | undefined;
    if (paid !== undefined) {
      sent.push(paid);
      return act(request, response, paid);
    }
    const required = { x402Version: 2, resource: { url: "http://shop.test/" }, accepts };
    response.writeHead(402, { "payment-required": encodeJson(required) }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sent);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** The header of a settlement that went well, with changes. */
export const settled = (changes = {}) => ({
  "payment-response": encodeJson({ success: true, transaction: "0xab", network: NETWORK, ...changes }),
});
export const deliver: Act = (_, response) => response.writeHead(200, settled()).end("goods");
