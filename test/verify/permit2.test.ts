// Verify of Permit2: allowance, spender, and blocks that offer to sponsor them.

import { describe, expect, it } from "vitest";
import {
  aPayment,
  approvalSponsoring,
  approvePermit2Data,
  BUYER,
  eip2612Sponsoring,
  settleCall,
  transact,
} from "../support/chain.ts";
import { verdictOn } from "../support/verify.ts";
import {
  ATTACKER,
  anvil,
  node,
  refused,
  STRANGER,
  useVerifyLab,
  VALID,
  verify,
} from "../support/verify-lab.ts";

useVerifyLab();

describe("C23: Permit2 allowance, spender and sponsoring blocks", () => {
  const short = refused("permit2_allowance_required");
  it("C23: refuses a payer who has not approved Permit2", async () => {
    for (const method of ["permit2", "upto"] as const) {
      expect(await verify({ method, payer: STRANGER ?? BUYER })).toEqual(short);
    }
  });
  it("C23: a permit or a signed approval in the payment changes nothing", async () => {
    const payer = STRANGER ?? BUYER;
    const permit = await eip2612Sponsoring(payer, { amount: 10_000n });
    const otherAmount = await eip2612Sponsoring(payer, { amount: 1n });
    const approval = await approvalSponsoring(payer, { data: approvePermit2Data() });
    for (const extensions of [permit, otherAmount, approval, { eip2612GasSponsoring: { info: 7 } }]) {
      expect(await verify({ method: "permit2", payer, extensions })).toEqual(short);
      expect(await verify({ method: "permit2", extensions })).toEqual(VALID);
    }
    expect(node.requests.flat().map(({ method }) => method)).not.toContain("eth_sendRawTransaction");
  });
  it("C23: refuses another spender", async () => {
    const signed = { spender: ATTACKER };
    expect(await verify({ method: "permit2", signed })).toEqual(refused("invalid_permit2_spender"));
    expect(await verify({ method: "upto", signed })).toEqual(refused("invalid_permit2_spender"));
  });
  it("C23: refuses a permit for more than the price", async () => {
    expect(await verify({ method: "permit2", signed: { value: 10_001n } })).toEqual(
      refused("permit2_amount_mismatch"),
    );
  });
  it("C23: refuses a permit that somebody else has settled", async () => {
    const payment = await aPayment({ method: "permit2" });
    expect(await verdictOn(node.url, payment)).toEqual(VALID);
    await transact(anvil.rpcUrl, { from: ATTACKER, ...settleCall(payment) });
    expect(await verdictOn(node.url, payment)).toEqual(refused("permit2_simulation_failed"));
  });
  it("C23: refuses an upto payment that names another facilitator", async () => {
    expect(await verify({ method: "upto", signed: { facilitator: ATTACKER } })).toEqual(
      refused("upto_facilitator_mismatch"),
    );
  });
});
