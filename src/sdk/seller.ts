// `souk/sdk/seller`: what a seller needs to charge for calls from custodial balances.

export { forExpress } from "./express.ts";
export { GatewayClient, GatewayError, type GatewayOptions } from "./gateway-client.ts";
export { type FetchHandler, type SellOverHttpOptions, sellOverHttp } from "./sell-http.ts";
export { type SellToolOptions, sellTool, type ToolResult } from "./sell-tool.ts";
