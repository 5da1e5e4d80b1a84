// Which reasons the published mechanisms can give on the differential test's chain, and which they cannot, with why.

/** Each is met at least this often. */
export const TIMES_EACH = 20;

export const REACHABLE_REASONS = [
  "valid",
  // EIP-3009, in the order in which the mechanism looks.
  "invalid_exact_evm_scheme",
  "invalid_exact_evm_missing_eip712_domain",
  "invalid_exact_evm_network_mismatch",
  "eip6492_factory_not_allowed",
  "invalid_exact_evm_signature",
  "invalid_exact_evm_recipient_mismatch",
  "invalid_exact_evm_payload_authorization_valid_before",
  "invalid_exact_evm_payload_authorization_valid_after",
  "invalid_exact_evm_payload_authorization_value_mismatch",
  "asset_not_deployed_contract",
  "invalid_exact_evm_eip3009_not_supported",
  "invalid_exact_evm_nonce_already_used",
  "invalid_exact_evm_token_name_mismatch",
  "invalid_exact_evm_token_version_mismatch",
  "invalid_exact_evm_insufficient_balance",
  "invalid_exact_evm_transaction_simulation_failed",
  // Permit2 and upto.
  "unsupported_payload_type",
  "invalid_upto_evm_scheme",
  "invalid_upto_evm_network_mismatch",
  "invalid_permit2_spender",
  "invalid_permit2_recipient_mismatch",
  "upto_facilitator_mismatch",
  "permit2_deadline_expired",
  "permit2_not_yet_valid",
  "permit2_amount_mismatch",
  "permit2_token_mismatch",
  "invalid_permit2_signature",
  "permit2_insufficient_balance",
  "permit2_allowance_required",
  "permit2_simulation_failed",
] as const;

const SETTLE_ONLY = "given by settle alone, after a transaction or while one is made";

/** The other reasons in the published package. */
export const UNREACHABLE_REASONS: Readonly<Record<string, string>> = {
  invalid_exact_evm_authorization_value: "version 1 of the protocol alone",
  permit2_proxy_not_deployed: "the proxies stand on this chain",
  invalid_exact_evm_failed_to_parse_signature: SETTLE_ONLY,
  invalid_exact_evm_transaction_failed: SETTLE_ONLY,
  invalid_exact_evm_transfer_event_mismatch: SETTLE_ONLY,
  invalid_upto_evm_transaction_failed: SETTLE_ONLY,
  invalid_upto_evm_payload_settlement_exceeds_amount: SETTLE_ONLY,
  invalid_transaction_state: SETTLE_ONLY,
  smart_wallet_deployment_failed: SETTLE_ONLY,
  settlement_pending: SETTLE_ONLY,
  upto_amount_exceeds_permitted: SETTLE_ONLY,
  upto_unauthorized_facilitator: SETTLE_ONLY,
  permit2_invalid_amount: SETTLE_ONLY,
  permit2_invalid_destination: SETTLE_ONLY,
  permit2_invalid_owner: SETTLE_ONLY,
  permit2_payment_too_early: SETTLE_ONLY,
  permit2_invalid_nonce: SETTLE_ONLY,
  permit2_2612_amount_mismatch: SETTLE_ONLY,
};
