// All routes of the Worker in one list: what the router serves, the OpenAPI document describes, and the credentials
// test walks over.

import { auditRoute } from "./audit.ts";
import { b402Routes } from "./b402.ts";
import type { Route } from "./call.ts";
import { claimRoute } from "./claims.ts";
import { discoveryRoutes } from "./discovery.ts";
import { gatewayRoutes } from "./gateway.ts";
import { healthRoute } from "./health.ts";
import { listingDecisionRoutes } from "./listing-decisions.ts";
import { mcpRoute } from "./mcp.ts";
import { openApiRoute } from "./openapi.ts";
import { operatorRoutes } from "./operator.ts";
import { pageRoutes } from "./pages.ts";
import { paymentRoutes } from "./payments.ts";
import { preflightRoute } from "./preflight.ts";
import { registryRoutes } from "./registry.ts";
import { settlementRoutes } from "./settlements.ts";
import { topUpRoute } from "./top-ups.ts";
import { walletRoutes } from "./wallets.ts";

export const routes: readonly Route[] = [
  ...paymentRoutes,
  ...settlementRoutes,
  ...discoveryRoutes,
  ...b402Routes,
  preflightRoute,
  claimRoute,
  ...listingDecisionRoutes,
  mcpRoute,
  ...gatewayRoutes,
  ...walletRoutes,
  topUpRoute,
  ...registryRoutes,
  auditRoute,
  ...operatorRoutes,
  healthRoute,
  ...pageRoutes,
  openApiRoute(() => routes),
];
