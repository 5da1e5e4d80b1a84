// `souk/sdk/buyer`: what an agent needs to buy calls, from a custodial balance or by x402.

export type { Bought } from "./buy.ts";
export { buyOverHttp } from "./buy-http.ts";
export { buyTools, type ToolCall, type ToolClient } from "./buy-tool.ts";
export type { BuyerOptions, ChallengeProblem, Limit, ReceiptProblem } from "./buyer-wallet.ts";
export { type Claimed, type ClaimStore, fileClaims } from "./claims.ts";
export type { Challenge, Proof, Receipt } from "./wire.ts";
export type { BuyerAuditRow } from "./x402-audit.ts";
export { type BuyOptions, buy } from "./x402-buy.ts";
export type { FailureReason, RefusalReason, X402Bought } from "./x402-outcome.ts";
