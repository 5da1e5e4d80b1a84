// Every reason for which a payment is refused or not answered: its word on the wire, one fixed sentence, and the
// status. Words are those of @x402/evm 2.27, else of the core specification's section 9. The mechanisms' own
// messages never pass: they carry RPC URLs and library text. A new reason does not compile until it stands here.

interface Wording {
  /** 200 is a verdict on a well-formed payment (CONTRACT.md section 0). */
  status: 200 | 400 | 409 | 429 | 502 | 503;
  sentence: string;
  /** The word on the wire, where several reasons of ours share a published one. */
  wire?: string;
  /** The same call may succeed later; seconds for `Retry-After`. */
  retryAfterSeconds?: number;
}

const verdict = (sentence: string, wire?: string): Wording => ({
  status: 200,
  sentence,
  ...(wire === undefined ? {} : { wire }),
});

/** Long enough for a provider's rate window or a full queue to move on, short enough for a waiting buyer. */
const RETRY_SECONDS = 2;
/** An operator has to act. */
const OPERATOR_RETRY_SECONDS = 60;

const WORDINGS = {
  // The request itself.
  invalid_payload: { status: 400, sentence: "the payment payload is malformed" },
  invalid_payment_requirements: {
    status: 400,
    sentence: "the payment requirements hold an amount or address that is malformed",
  },
  invalid_x402_version: verdict("only x402Version 2 is served, the same outside and inside the payload"),
  invalid_network: verdict("the network is not one that this facilitator serves, as a canonical CAIP-2 id"),
  unsupported_scheme: verdict("the scheme is not one that this facilitator serves"),
  unsupported_payload_type: verdict("the payload is not of the kind that the scheme asks for"),
  asset_not_allowed: verdict("this facilitator does not move this asset", "invalid_payment_requirements"),
  amount_below_minimum: verdict(
    "the amount is below the smallest that this facilitator settles",
    "invalid_payment_requirements",
  ),

  // What was accepted or signed is not what is required.
  invalid_exact_evm_scheme: verdict("the accepted scheme is not the required one"),
  invalid_upto_evm_scheme: verdict("the accepted scheme is not the required one"),
  invalid_exact_evm_network_mismatch: verdict("the accepted network is not the required one"),
  invalid_upto_evm_network_mismatch: verdict("the accepted network is not the required one"),
  permit2_token_mismatch: verdict("the accepted or signed token is not the required one"),
  invalid_exact_evm_recipient_mismatch: verdict("the receiver is not the one that the requirements name"),
  invalid_permit2_recipient_mismatch: verdict("the receiver is not the one that the requirements name"),
  invalid_exact_evm_payload_authorization_value_mismatch: verdict(
    "the accepted or signed value is not exactly the required amount",
  ),
  permit2_amount_mismatch: verdict("the accepted or permitted amount is not exactly the required amount"),
  invalid_permit2_spender: verdict("the signed spender is not the x402 proxy of this scheme"),
  upto_facilitator_mismatch: verdict("the signed facilitator is not an account of this facilitator"),
  invalid_upto_evm_payload_settlement_exceeds_amount: verdict("the charge is above the permitted amount"),

  // The window, by our clock.
  invalid_exact_evm_payload_authorization_valid_before: verdict(
    "the authorization has expired or expires too soon to reach the chain",
  ),
  invalid_exact_evm_payload_authorization_valid_after: verdict("the authorization is not valid yet"),
  permit2_deadline_expired: verdict("the permit has expired or expires too soon to reach the chain"),
  permit2_not_yet_valid: verdict("the permit is not valid yet"),
  permit2_payment_too_early: verdict("the permit is not valid yet"),

  // The signature and who signed.
  invalid_exact_evm_signature: verdict("the signature is not the payer's over this authorization"),
  invalid_permit2_signature: verdict("the signature is not the payer's over this permit"),
  invalid_exact_evm_failed_to_parse_signature: verdict("the signature cannot be read"),
  invalid_exact_evm_missing_eip712_domain: verdict("extra.name and extra.version of the token are missing"),
  eip6492_factory_not_allowed: verdict("the payer's wallet is not deployed, and its factory is not trusted"),
  invalid_exact_evm_payload_undeployed_smart_wallet: verdict("the payer's wallet is not deployed"),
  smart_wallet_deployment_failed: verdict("the payer's wallet could not be deployed"),

  // The token and the payer's means.
  asset_not_deployed_contract: verdict("there is no contract at the asset's address"),
  invalid_exact_evm_token_name_mismatch: verdict("extra.name is not the name that the token states"),
  invalid_exact_evm_token_version_mismatch: verdict("extra.version is not the version that the token states"),
  invalid_exact_evm_eip3009_not_supported: verdict("the token does not take EIP-3009 authorizations"),
  invalid_exact_evm_nonce_already_used: verdict("the authorization was used or cancelled before"),
  invalid_exact_evm_insufficient_balance: verdict("the payer's balance is below the amount"),
  invalid_exact_evm_transaction_simulation_failed: verdict("the token refuses the transfer"),
  invalid_exact_evm_authorization_value: verdict("the signed value is not one that can be settled"),
  permit2_allowance_required: verdict("the payer has not approved Permit2 for the amount"),
  permit2_insufficient_balance: verdict("the payer's balance is below the amount"),
  permit2_simulation_failed: verdict("Permit2 or the token refuses the transfer"),
  permit2_proxy_not_deployed: verdict("the x402 proxy is not deployed on this network"),
  permit2_invalid_amount: verdict("Permit2 refuses the amount"),
  permit2_invalid_destination: verdict("Permit2 refuses the receiver"),
  permit2_invalid_owner: verdict("Permit2 refuses the owner"),
  permit2_invalid_nonce: verdict("the permit was used or cancelled before"),
  permit2_2612_amount_mismatch: verdict("the token permit is not for the permitted amount"),
  upto_amount_exceeds_permitted: verdict("the charge is above the permitted amount"),
  upto_unauthorized_facilitator: verdict("the signed facilitator is not the account that settles"),

  // Settling.
  settlement_pending: verdict("the transaction is sent and not confirmed yet; ask again with the same body"),
  duplicate_settlement: verdict("this payment was settled, or is being settled, by another call"),
  invalid_exact_evm_transaction_failed: verdict("the transaction failed on the chain"),
  invalid_upto_evm_transaction_failed: verdict("the transaction failed on the chain"),
  invalid_exact_evm_transfer_event_mismatch: verdict("the transaction moved no such amount"),
  invalid_transaction_state: verdict("the authorization was not used in time, and is void now"),
  idempotency_conflict: { status: 409, sentence: "this Idempotency-Key belongs to another payment" },

  // Not able now.
  unexpected_verify_error: {
    status: 502,
    sentence: "the network's nodes gave no answer; nothing is said about the payment",
    retryAfterSeconds: RETRY_SECONDS,
  },
  unexpected_settle_error: {
    status: 502,
    sentence: "the network's nodes gave no answer; nothing is said about the payment",
    retryAfterSeconds: RETRY_SECONDS,
  },
  relayer_busy: {
    status: 503,
    sentence: "too many settlements are waiting on this network",
    retryAfterSeconds: RETRY_SECONDS,
  },
  relayer_no_gas: {
    status: 503,
    sentence: "the settling account is short of gas",
    retryAfterSeconds: OPERATOR_RETRY_SECONDS,
  },
  misconfigured: {
    status: 503,
    sentence: "this facilitator is not set up to handle money",
    retryAfterSeconds: OPERATOR_RETRY_SECONDS,
  },
  rate_limited: { status: 429, sentence: "too many requests", retryAfterSeconds: 10 },
} as const satisfies Record<string, Wording>;

/** A reason as the code knows it; `wordReason` says what goes on the wire. */
export type Reason = keyof typeof WORDINGS;

export interface WordedReason {
  /** `invalidReason` or `errorReason`. */
  reason: string;
  /** `invalidMessage` or `errorMessage`. */
  sentence: string;
  status: number;
  retryAfterSeconds: number | null;
}

/** What a client is told for a reason. */
export function wordReason(reason: Reason): WordedReason {
  const { status, sentence, wire, retryAfterSeconds }: Wording = WORDINGS[reason];
  return { reason: wire ?? reason, sentence, status, retryAfterSeconds: retryAfterSeconds ?? null };
}

export function isReason(text: string): text is Reason {
  return Object.hasOwn(WORDINGS, text);
}

/**
 * A mechanism's reason as one of ours.
 *
 * @throws Error when the mechanism says something this table does not know: that is a bug of ours, never a verdict.
 */
export function reasonOfMechanism(invalidReason: string | undefined): Reason {
  if (invalidReason !== undefined && isReason(invalidReason)) return invalidReason;
  throw new Error("assertion failed: a mechanism refused for a reason without a wording");
}
