// What the contestants are asked about: payments as buyers' clients send them, signed beforehand, as JSON texts. Both
// contestants get the same ones.

import { declareDiscoveryExtension } from "@x402/extensions/bazaar";
import { ACCOUNTS, type TestAccount } from "../scripts/chain/addresses.ts";
import {
  approvePermit2,
  deployWallet,
  type Payer,
  type PaymentMethod,
  transferUsdc,
  walletOf,
} from "../test/support/chain.ts";
import { aPayment, BUYER, type PaymentOptions, SELLER, type TestPayment } from "../test/support/payments.ts";

/** Far enough ahead for the slowest run. */
const TIMEOUT_SECONDS = 3_600;
const BUYERS: readonly TestAccount[] = ACCOUNTS.filter(({ address }) => address !== SELLER.address).slice(1);

/** Different payments of one cent from eight buyers to one seller. */
export async function manyPayments(
  count: number,
  optionsOf: (index: number) => PaymentOptions = () => ({}),
): Promise<TestPayment[]> {
  const payments: TestPayment[] = [];
  for (let index = 0; index < count; index++) {
    const payer = BUYERS[index % BUYERS.length];
    const options = { ...(payer && { payer }), maxTimeoutSeconds: TIMEOUT_SECONDS, ...optionsOf(index) };
    payments.push(await aPayment(options));
  }
  return payments;
}

export function asTexts(payments: readonly TestPayment[]): string[] {
  return payments.map((payment) => JSON.stringify(payment));
}

/** Resources that payments are made for in turn: a seller's blocks repeat, and there is more than one seller. */
const RESOURCES = 20;

/** The same with a bazaar block, as a seller's server declares it with the published helper. */
export function withBlocks(payments: readonly TestPayment[]): TestPayment[] {
  const blocks = Array.from({ length: RESOURCES }, (_, index) => ({
    resource: { url: `https://shop-${index}.example/report-${index}`, description: `Report number ${index}` },
    extensions: declaredBlock(index),
  }));
  return payments.map((payment, index) => ({
    ...payment,
    paymentPayload: { ...payment.paymentPayload, ...blocks[index % RESOURCES] },
  }));
}

export function declaredBlock(index: number): Record<string, unknown> {
  const { bazaar } = declareDiscoveryExtension({
    input: { city: "Oslo", days: 3, [`option${index}`]: true },
    inputSchema: {
      properties: {
        city: { type: "string", description: "Where" },
        days: { type: "integer", minimum: 1, maximum: 14 },
        [`option${index}`]: { type: "boolean" },
      },
      required: ["city"],
    },
    output: { example: { city: "Oslo", temperatures: [7, 8, 5], summary: "rain, then sun" } },
  }) as unknown as {
    bazaar: { info: { input: object }; schema: { properties: { input: { properties: object } } } };
  };
  // What the seller's server adds for the route at hand.
  Object.assign(bazaar.info.input, { method: "GET" });
  Object.assign(bazaar.schema.properties.input.properties, { method: { type: "string", enum: ["GET"] } });
  return { bazaar };
}

export type Way = "EIP-3009" | "Permit2" | "ERC-1271";

/** One payment for each way to pay that a verify must judge in one round trip. */
export async function paymentOfEachWay(rpcUrl: string): Promise<Record<Way, TestPayment>> {
  await approvePermit2(rpcUrl, BUYER.address);
  const wallet = walletOf(BUYER, `0x${"be".repeat(32)}`);
  await deployWallet(rpcUrl, wallet);
  await transferUsdc(rpcUrl, BUYER.address, wallet.address, 1_000_000n);
  const pay = (method: PaymentMethod, payer: Payer) =>
    aPayment({ method, payer, maxTimeoutSeconds: TIMEOUT_SECONDS });
  return {
    "EIP-3009": await pay("eip3009", BUYER),
    Permit2: await pay("permit2", BUYER),
    "ERC-1271": await pay("eip3009", wallet),
  };
}
