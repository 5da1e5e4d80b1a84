// The demo buyer: the published `@x402/fetch` with one of anvil's accounts. It pays by EIP-3009 or through Permit2,
// which it must first have allowed to move its USDC.

import { decodePaymentResponseHeader } from "@x402/core/http";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { encodeFunctionData, maxUint256, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { type Hex, NETWORK, PERMIT2, type TestAccount, USDC } from "../chain/addresses.ts";
import { rpc, transact } from "../chain/rpc.ts";
import type { DemoResource, PaymentMethod } from "./resources.ts";

const ERC20 = parseAbi([
  "function approve(address spender, uint256 value) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
]);

export interface Purchase {
  status: number;
  body: unknown;
  /** Empty when the seller sent no receipt. */
  transaction: string;
}

export interface Buyer {
  buy(sellerUrl: string, resource: DemoResource): Promise<Purchase>;
}

/** A seller answers within two settlement waits of 25 s each. */
const PURCHASE_TIMEOUT_MS = 60_000;

/**
 * A buyer that prefers one way to pay.
 * @param fetchUnpaid sees the requests as they go out, the unpaid first one included.
 */
export function makeBuyer(
  account: TestAccount,
  method: PaymentMethod,
  fetchUnpaid: typeof globalThis.fetch = fetch,
): Buyer {
  const client = new x402Client((_version, offers) => {
    const offer = offers.find(({ extra }) => (extra?.assetTransferMethod ?? "eip3009") === method);
    if (!offer) throw new Error(`the seller does not take ${method}`);
    return offer;
  }).register(NETWORK, new ExactEvmScheme(privateKeyToAccount(account.key)));
  const fetchPaid = wrapFetchWithPayment(fetchUnpaid, client);
  return {
    buy: async (sellerUrl, { request }) => {
      const response = await fetchPaid(`${sellerUrl}${request.path}`, {
        ...(request.body === undefined
          ? {}
          : {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify(request.body),
            }),
        signal: AbortSignal.timeout(PURCHASE_TIMEOUT_MS),
      });
      const receipt = response.headers.get("payment-response");
      return {
        status: response.status,
        body: await response.json(),
        transaction: receipt === null ? "" : decodePaymentResponseHeader(receipt).transaction,
      };
    },
  };
}

/** Once per account: Permit2 may move its USDC. */
export async function allowPermit2(rpcUrl: string, account: TestAccount): Promise<void> {
  const data = encodeFunctionData({ abi: ERC20, functionName: "approve", args: [PERMIT2, maxUint256] });
  await transact(rpcUrl, { from: account.address, to: USDC, data });
}

/** Atomic units. */
export async function usdcOf(rpcUrl: string, address: Hex): Promise<bigint> {
  const data = encodeFunctionData({ abi: ERC20, functionName: "balanceOf", args: [address] });
  return BigInt(await rpc<Hex>(rpcUrl, "eth_call", [{ to: USDC, data }, "latest"]));
}
