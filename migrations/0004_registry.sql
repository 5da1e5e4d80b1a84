CREATE TABLE `capabilities` (
	`id` text PRIMARY KEY NOT NULL,
	`provider_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`url` text NOT NULL,
	`method` text,
	`tool_name` text,
	`input_schema` text,
	`amount_minor` text NOT NULL,
	`currency` text NOT NULL,
	`challenge_url` text NOT NULL,
	`paused_until_ms` integer DEFAULT 0 NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `capabilities_by_provider` ON `capabilities` (`provider_id`);--> statement-breakpoint
CREATE TABLE `paid_calls` (
	`transaction_id` text PRIMARY KEY NOT NULL,
	`receipt_id` text NOT NULL,
	`status` text NOT NULL,
	`failure_kind` text,
	`error_text` text,
	`capability_id` text NOT NULL,
	`provider_id` text NOT NULL,
	`wallet_id` text NOT NULL,
	`agent_id` text NOT NULL,
	`amount_minor` text NOT NULL,
	`currency` text NOT NULL,
	`policy_version` integer,
	`approval_id` text,
	`decided_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `paid_calls_receipt_id_unique` ON `paid_calls` (`receipt_id`);--> statement-breakpoint
CREATE INDEX `paid_calls_by_capability` ON `paid_calls` (`capability_id`,`decided_at_ms`);--> statement-breakpoint
CREATE INDEX `paid_calls_by_provider` ON `paid_calls` (`provider_id`,`decided_at_ms`);--> statement-breakpoint
CREATE INDEX `paid_calls_by_wallet` ON `paid_calls` (`wallet_id`,`decided_at_ms`);--> statement-breakpoint
CREATE TABLE `providers` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`wallet_id` text NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `wallets` (
	`id` text PRIMARY KEY NOT NULL,
	`currency` text NOT NULL,
	`public_key` text NOT NULL,
	`key_version` integer DEFAULT 1 NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `api_keys` ADD `provider_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `wallet_id` text;