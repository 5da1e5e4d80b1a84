// The reference, in its strongest fair form: the published facilitator and EVM mechanisms on Express, with viem's
// nonce manager, a short receipt poll, and the published catalog extraction after each verify. A process of its own:
//
//   node bench/reference-facilitator.ts <port> <rpc url>

import { x402Facilitator } from "@x402/core/facilitator";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { extractDiscoveryInfo } from "@x402/extensions/bazaar";
import express from "express";
import { createWalletClient, http, nonceManager, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { baseSepolia } from "viem/chains";
import { ACCOUNTS, NETWORK } from "../scripts/chain/addresses.ts";

/** viem's default of 4 s would be unfair on a chain with blocks of 2 s. */
const RECEIPT_POLL_MS = 100;
/** It loses some transactions of copies of a payment; by default it then waits three minutes for each. */
const RECEIPT_WAIT_MS = 10_000;

const [port, rpcUrl] = process.argv.slice(2);
const account = privateKeyToAccount(ACCOUNTS[0].key, { nonceManager });
const client = createWalletClient({
  account,
  chain: baseSepolia,
  transport: http(rpcUrl),
  pollingInterval: RECEIPT_POLL_MS,
}).extend(publicActions);
const signer = toFacilitatorEvmSigner(
  Object.assign(client, { address: account.address }) as unknown as Parameters<
    typeof toFacilitatorEvmSigner
  >[0],
  { confirmationTimeoutMs: RECEIPT_WAIT_MS },
);

const facilitator = new x402Facilitator().register(NETWORK, new ExactEvmScheme(signer));
facilitator.onAfterVerify(async ({ paymentPayload, requirements }) => {
  extractDiscoveryInfo(paymentPayload, requirements);
});

const app = express();
app.use(express.json({ limit: "256kb" }));
for (const operation of ["verify", "settle"] as const) {
  app.post(`/${operation}`, async (request, response) => {
    const { paymentPayload, paymentRequirements } = request.body;
    try {
      response.json(await facilitator[operation](paymentPayload, paymentRequirements));
    } catch (error) {
      response.status(500).json({ error: error instanceof Error ? error.message : "failed" });
    }
  });
}
app.listen(Number(port), "127.0.0.1", () => console.log("ready"));
