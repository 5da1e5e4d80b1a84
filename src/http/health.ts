// GET /health: can this facilitator do its work, and what should its operator look at? Names variables, networks and
// counts; never a URL, a key or a provider's text.

import type { Config, Network } from "../config.ts";
import { JsonRpc, type RpcAnswer } from "../payments/evm/json-rpc.ts";
import { json } from "./answers.ts";
import type { Call, Route } from "./call.ts";
import { examineCatalog } from "./catalog-health.ts";
import { moneyProblem, topUpProblem } from "./payment-answers.ts";

export interface HealthCheck {
  name: string;
  ok: boolean;
  detail: string;
}

/** A further part of the house that has something to say; a new one is added to this list. */
type HealthProbe = (call: Call) => Promise<HealthCheck[]>;
const PROBES: readonly HealthProbe[] = [examineCatalog];

/** Anyone may ask, and each answer costs requests to the nodes: an isolate asks them this often at the most. */
const REMEMBER_MS = 5_000;
/** A monitor does not wait long. */
const RPC_TIMEOUT_MS = 3_000;

interface HealthReport {
  status: number;
  body: { status: "ok" | "degraded"; checks: HealthCheck[] };
}

let remembered: { config: Config; report: HealthReport; untilMs: number } | undefined;

async function health(call: Call): Promise<Response> {
  const nowMs = call.clock.nowMs();
  if (remembered?.config !== call.config || nowMs >= remembered.untilMs) {
    const report = await examine(call);
    remembered = { config: call.config, report, untilMs: nowMs + REMEMBER_MS };
  }
  return json(remembered.report.body, remembered.report.status, { "cache-control": "no-store" });
}

async function examine(call: Call): Promise<HealthReport> {
  const { config, clock } = call;
  const networks = [...config.networks.values()];
  const [byNetwork, ...others] = await Promise.all([
    Promise.all(networks.map((network) => examineNetwork(network, clock.nowMs()))),
    ...PROBES.map((probe) => probe(call)),
  ]);
  const checks = [...configChecks(config), ...byNetwork.flatMap(({ checks }) => checks), ...others.flat()];
  const canVerify = moneyProblem(config) === null && byNetwork.some((network) => network.canVerify);
  const status = checks.every(({ ok }) => ok) && canVerify ? "ok" : "degraded";
  return { status: canVerify ? 200 : 503, body: { status, checks } };
}

function configChecks(config: Config): HealthCheck[] {
  const { problems, networks } = config;
  const checks = problems.map(({ variable, problem }) => ({
    name: `config ${variable}`,
    ok: false,
    detail: problem,
  }));
  const topUps = topUpProblem(config);
  if (topUps) checks.push({ name: "config TOPUP_PAY_TO", ok: false, detail: topUps });
  if (networks.size === 0) {
    checks.push({ name: "networks", ok: false, detail: "none is switched on" });
  }
  return checks.length > 0 ? checks : [{ name: "config", ok: true, detail: "complete" }];
}

async function examineNetwork(network: Network, nowMs: number) {
  const { id, chainId, rpcUrls, blockTimeMs } = network;
  const rpc = new JsonRpc({ rpcUrls, chainId, blockTimeMs, totalTimeoutMs: RPC_TIMEOUT_MS });
  const relayers = network.relayers();
  const [block, gasPrice, ...balances] = await rpc.batch([
    { method: "eth_getBlockByNumber", params: ["latest", false] },
    { method: "eth_gasPrice", params: [] },
    ...relayers.map((address) => ({ method: "eth_getBalance", params: [address, "latest"] })),
  ]);
  const nodes = judgeNodes(rpc, block, nowMs);
  const checks: HealthCheck[] = [
    { name: `rpc ${id}`, ok: nodes.ok, detail: nodes.detail },
    { name: `relayer gas ${id}`, ...judgeGas(gasPrice, balances) },
  ];
  return { checks, canVerify: nodes.canVerify };
}

function judgeNodes(rpc: JsonRpc, block: RpcAnswer | undefined, nowMs: number) {
  const header = block?.ok ? (block.result as { number?: unknown; timestamp?: unknown } | null) : null;
  const number = quantity(header?.number);
  const timeSeconds = quantity(header?.timestamp);
  if (number === undefined || timeSeconds === undefined) {
    const detail = rpc.servesWrongChain() ? "the node serves another chain id" : "no answer";
    return { ok: false, canVerify: false, detail };
  }
  const { ageMs, behindBlocks, isLagging } = rpc.observeHead(
    { number, timeSeconds: Number(timeSeconds) },
    nowMs,
  );
  const age = ageMs === null ? "" : `, ${Math.round(ageMs / 1_000)} s old`;
  const behind = behindBlocks === 0 ? "" : `, ${behindBlocks} blocks behind`;
  const fallback = rpc.servesWrongChain() ? ", a fallback serves another chain id" : "";
  return {
    ok: !isLagging && fallback === "",
    canVerify: true,
    detail: `head ${number}${age}${behind}${fallback}`,
  };
}

/** Settlements that a relayer must still be able to pay for; below it the operator should send gas. */
const LOW_GAS_SETTLEMENTS = 50n;
/** An EIP-3009 transfer of USDC takes about 86,000; wallets and Permit2 take more. */
const GAS_PER_SETTLEMENT = 150_000n;

function judgeGas(gasPrice: RpcAnswer | undefined, balances: readonly RpcAnswer[]) {
  const price = gasPrice?.ok ? quantity(gasPrice.result) : undefined;
  const known = balances.map((answer) => (answer.ok ? quantity(answer.result) : undefined));
  if (price === undefined || known.includes(undefined)) return { ok: false, detail: "no answer" };
  const needed = price * GAS_PER_SETTLEMENT * LOW_GAS_SETTLEMENTS;
  const low = known.filter((balance) => balance === 0n || (balance ?? 0n) < needed).length;
  return low === 0
    ? { ok: true, detail: `${known.length} of ${known.length} accounts hold enough` }
    : { ok: false, detail: `${low} of ${known.length} accounts are low` };
}

function quantity(value: unknown): bigint | undefined {
  return typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : undefined;
}

export const healthRoute: Route = {
  method: "GET",
  path: "/health",
  face: "api",
  credential: { kind: "none" },
  summary: "Whether payments can be verified, and what an operator should look at",
  answers: Object.fromEntries(
    [200, 503].map((status) => [
      status,
      {
        type: "object",
        required: ["status", "checks"],
        properties: {
          status: { enum: ["ok", "degraded"] },
          checks: {
            type: "array",
            items: {
              type: "object",
              required: ["name", "ok", "detail"],
              properties: { name: { type: "string" }, ok: { type: "boolean" }, detail: { type: "string" } },
            },
          },
        },
      },
    ]),
  ),
  handle: health,
};
