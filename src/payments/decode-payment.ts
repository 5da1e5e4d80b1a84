// Unknown JSON -> Payment, the first step of verify and settle. Pure and total: it answers for every value and never
// throws. The order of the questions is part of the contract: an old client's body must hear that its version or
// network is not served, not that a field of the new version is missing. What is not asked for is ignored, never
// refused: `resource`, `extensions` and unknown fields may hold anything.

import type { Hex } from "viem";
import type { Payment, Scheme } from "./payment.ts";
import { addressOf, FieldReader, isCanonicalNetwork, isObject, type Json } from "./payment-fields.ts";
import { normaliseSignature } from "./payment-signature.ts";
import type { Reason } from "./reasons.ts";

const VERSION = 2;

export type Decoding =
  | { ok: true; payment: Payment }
  | {
      ok: false;
      reason: Reason;
      /** Names the field and the rule; null where the reason's own sentence says all. */
      message: string | null;
      /** Echo of the network asked for, `""` when there is none. */
      network: string;
      /** Who would have paid, when the body says so. */
      payer: string | null;
    };

/** The networks that are switched on, by canonical CAIP-2 id. */
export type ServedNetworks = ReadonlyMap<string, { chainId: number }>;

/** Reads the body of a verify or settle call (CONTRACT.md "Strict payment parsing"). */
export function decodePayment(body: unknown, networks: ServedNetworks): Decoding {
  const outcome = decode(body, networks);
  if ("payment" in outcome) return { ok: true, payment: outcome.payment };
  const { reason, message = null } = outcome;
  return { ok: false, reason, message, network: networkEcho(body), payer: payerEcho(body) };
}

type Outcome = { payment: Payment } | { reason: Reason; message?: string };

function decode(body: unknown, networks: ServedNetworks): Outcome {
  if (!isObject(body)) return { reason: "invalid_payload", message: "body is not an object" };
  const fields = new FieldReader();
  const outerVersion = fields.integer(body, "", "x402Version");
  const sent = fields.object(body, "", "paymentPayload");
  const innerVersion = fields.integer(sent, PAYLOAD, "x402Version");
  const required = fields.object(body, "", "paymentRequirements");
  if (fields.problem) return fields.problem;
  if (outerVersion !== VERSION || innerVersion !== VERSION) return { reason: "invalid_x402_version" };

  const network = fields.text(required, REQUIREMENTS, "network");
  if (fields.problem) return fields.problem;
  const served = networks.get(network);
  if (!served || hasForeignName(sent.accepted)) return { reason: "invalid_network" };

  // Both are there before any value is judged, and the requirements' values before the client's copies of them.
  const acceptedSent = fields.object(sent, PAYLOAD, "accepted");
  const inner = fields.object(sent, PAYLOAD, "payload");
  const requirements = readRequirements(fields, required, network);
  const accepted = readAccepted(fields, acceptedSent);
  if (fields.problem) return fields.problem;
  if (!isScheme(requirements.scheme)) return { reason: "unsupported_scheme" };
  const form = formOf(inner, requirements.scheme);
  if (form === "unsupported") return { reason: "unsupported_payload_type" };

  const signed =
    form === "eip3009" ? readEip3009(fields, inner) : readPermit2(fields, inner, form === "upto");
  const signature = fields.text(inner, INNER, "signature");
  if (fields.problem) return fields.problem;
  const normalised = normaliseSignature(signature);
  if (normalised === undefined) {
    return { reason: form === "eip3009" ? "invalid_exact_evm_signature" : "invalid_permit2_signature" };
  }
  const { payload, ...authorization } = signed;
  return {
    payment: {
      scheme: requirements.scheme,
      network,
      chainId: served.chainId,
      payTo: requirements.payTo,
      asset: requirements.asset,
      amountAtomic: BigInt(requirements.amount),
      ...authorization,
      signature: normalised,
      payload: { x402Version: VERSION, accepted, payload: { signature: normalised, ...payload } },
      requirements,
    },
  };
}

const PAYLOAD = "paymentPayload";
const ACCEPTED = `${PAYLOAD}.accepted`;
const INNER = `${PAYLOAD}.payload`;
const REQUIREMENTS = "paymentRequirements";

/** The client's copy in a name that is not canonical CAIP-2; a missing copy is another problem. */
function hasForeignName(accepted: unknown): boolean {
  return isObject(accepted) && typeof accepted.network === "string" && !isCanonicalNetwork(accepted.network);
}

function isScheme(scheme: string): scheme is Scheme {
  return scheme === "exact" || scheme === "upto";
}

/** The terms that the client says it accepted; compared with the requirements, never trusted. */
function readAccepted(fields: FieldReader, accepted: Json) {
  return {
    scheme: fields.text(accepted, ACCEPTED, "scheme"),
    network: fields.text(accepted, ACCEPTED, "network") as Network,
    asset: fields.address(accepted, ACCEPTED, "asset"),
    amount: fields.amount(accepted, ACCEPTED, "amount").toString(),
    payTo: fields.address(accepted, ACCEPTED, "payTo"),
    maxTimeoutSeconds: 0,
    extra: {},
  };
}

type Network = `${string}:${string}`;

function readRequirements(fields: FieldReader, required: Json, network: string) {
  const malformed = "invalid_payment_requirements";
  const scheme = fields.text(required, REQUIREMENTS, "scheme");
  const maxTimeoutSeconds = fields.integer(required, REQUIREMENTS, "maxTimeoutSeconds");
  return {
    scheme,
    network: network as Network,
    asset: fields.address(required, REQUIREMENTS, "asset", malformed),
    amount: fields.amount(required, REQUIREMENTS, "amount", malformed).toString(),
    payTo: fields.address(required, REQUIREMENTS, "payTo", malformed),
    maxTimeoutSeconds,
    extra: readDomain(required.extra),
  };
}

/** Of `extra` only the token's EIP-712 domain matters; what is missing is the mechanism's to judge. */
function readDomain(extra: unknown): Record<string, string> {
  const domain: Record<string, string> = {};
  if (!isObject(extra)) return domain;
  if (typeof extra.name === "string") domain.name = extra.name;
  if (typeof extra.version === "string") domain.version = extra.version;
  return domain;
}

type Form = "eip3009" | "permit2" | "upto" | "unsupported";

/** As the published mechanisms tell them apart: by the presence of `permit2Authorization`. */
function formOf(inner: Json, scheme: Scheme): Form {
  const isPermit2 = Object.hasOwn(inner, "permit2Authorization");
  if (scheme === "exact") return isPermit2 ? "permit2" : "eip3009";
  return isPermit2 || !Object.hasOwn(inner, "authorization") ? "upto" : "unsupported";
}

function readEip3009(fields: FieldReader, inner: Json) {
  const path = `${INNER}.authorization`;
  const authorization = fields.object(inner, INNER, "authorization");
  const payer = fields.address(authorization, path, "from");
  const to = fields.address(authorization, path, "to");
  const signedAtomic = fields.amount(authorization, path, "value");
  const validAfterSeconds = fields.amount(authorization, path, "validAfter");
  const validBeforeSeconds = fields.amount(authorization, path, "validBefore");
  const nonce = fields.bytes32(authorization, path, "nonce");
  const payload = {
    authorization: {
      from: payer,
      to,
      value: signedAtomic.toString(),
      validAfter: validAfterSeconds.toString(),
      validBefore: validBeforeSeconds.toString(),
      nonce: nonce as Hex,
    },
  };
  const method = "eip3009" as const;
  return {
    method,
    payer,
    signedAtomic,
    nonce,
    validAfterSeconds,
    validBeforeSeconds,
    facilitator: null,
    payload,
  };
}

function readPermit2(fields: FieldReader, inner: Json, isUpto: boolean) {
  const path = `${INNER}.permit2Authorization`;
  const permit = fields.object(inner, INNER, "permit2Authorization");
  const payer = fields.address(permit, path, "from");
  const permitted = fields.object(permit, path, "permitted");
  const token = fields.address(permitted, `${path}.permitted`, "token");
  const signedAtomic = fields.amount(permitted, `${path}.permitted`, "amount");
  const spender = fields.address(permit, path, "spender");
  const nonce = fields.amount(permit, path, "nonce").toString();
  const validBeforeSeconds = fields.amount(permit, path, "deadline");
  const witness = fields.object(permit, path, "witness");
  const to = fields.address(witness, `${path}.witness`, "to");
  const facilitator = isUpto ? fields.address(witness, `${path}.witness`, "facilitator") : null;
  const validAfterSeconds = fields.amount(witness, `${path}.witness`, "validAfter");
  const payload = {
    permit2Authorization: {
      from: payer,
      permitted: { token, amount: signedAtomic.toString() },
      spender,
      nonce,
      deadline: validBeforeSeconds.toString(),
      witness: {
        to,
        ...(facilitator === null ? {} : { facilitator }),
        validAfter: validAfterSeconds.toString(),
      },
    },
  };
  const method = "permit2" as const;
  return { method, payer, signedAtomic, nonce, validAfterSeconds, validBeforeSeconds, facilitator, payload };
}

/** Longer is no network's name, and not worth sending back. */
const MAX_ECHO_CHARACTERS = 64;

function networkEcho(body: unknown): string {
  const network =
    isObject(body) && isObject(body.paymentRequirements) ? body.paymentRequirements.network : "";
  return typeof network === "string" && network.length <= MAX_ECHO_CHARACTERS ? network : "";
}

function payerEcho(body: unknown): string | null {
  const sent = isObject(body) ? body.paymentPayload : undefined;
  const inner = isObject(sent) ? sent.payload : undefined;
  if (!isObject(inner)) return null;
  const signed = inner.permit2Authorization ?? inner.authorization;
  return (isObject(signed) ? addressOf(signed.from) : undefined) ?? null;
}
