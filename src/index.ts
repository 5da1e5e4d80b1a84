// The Worker's entry: what Cloudflare calls and which Durable Object classes it finds. No logic.

import { type BackgroundPorts, makeQueueConsumer, makeScheduler } from "./bazaar/background.ts";
import { ownHostsOf } from "./bazaar/catalog/host-rules.ts";
import { proberUserAgent } from "./bazaar/prober/ask-origin.ts";
import { type Env, loadConfig } from "./config.ts";
import { creditTopUp } from "./gateway/top-up.ts";
import { auditSettlement } from "./http/audited-payment.ts";
import { makeFetch } from "./http/router.ts";
import { routes } from "./http/routes.ts";
import { priceInUsdMicros } from "./payments/dollar-price.ts";
import type { EndedSettlement, SettledCredit } from "./payments/settlement/settlement-aftermath.ts";
import { SettlementObject as Settlement } from "./payments/settlement/settlement-object.ts";
import { systemClock } from "./platform/clock.ts";

export { PaidCallObject } from "./gateway/paid-call-object.ts";
export { WalletObject } from "./gateway/wallet-object.ts";
export { RelayerObject } from "./payments/evm/relayer/relayer-object.ts";
export { IdempotencyObject } from "./payments/settlement/idempotency-object.ts";

/** Here a settlement meets what follows it: the audit, and the wallets that it may pay into. */
export class SettlementObject extends Settlement {
  protected override audit(ended: EndedSettlement): Promise<void> {
    return auditSettlement(this.env.DB, ended);
  }

  protected override credit({
    network,
    asset,
    amountAtomic,
    finalAtMs,
    ...paid
  }: SettledCredit): Promise<void> {
    const usdMicros = priceInUsdMicros(loadConfig(this.env).networks, network, asset, amountAtomic);
    const wallet = (walletId: string) => this.env.WALLETS.getByName(walletId);
    return creditTopUp(wallet, { ...paid, usdMicros, atMs: finalAtMs });
  }
}

export default {
  fetch: makeFetch(routes),
  queue: makeQueueConsumer(backgroundPorts),
  scheduled: makeScheduler(backgroundPorts),
} satisfies ExportedHandler<Env>;

function backgroundPorts(env: Env): BackgroundPorts {
  const { networks, publicOrigin, allowLoopbackResources } = loadConfig(env);
  return {
    db: env.DB,
    clock: systemClock,
    priceOf: (network, asset, amountAtomic) => priceInUsdMicros(networks, network, asset, amountAtomic),
    requestProbe: (listingId) => env.PROBE_QUEUE.send({ listingId }),
    rules: { ownHosts: ownHostsOf([publicOrigin ?? ""]), allowLoopback: allowLoopbackResources },
    userAgent: proberUserAgent(publicOrigin),
  };
}
