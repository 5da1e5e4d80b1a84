CREATE TABLE `settled_payments` (
	`settlement_id` text PRIMARY KEY NOT NULL,
	`tenant` text NOT NULL,
	`wallet_id` text,
	`state` text NOT NULL,
	`error_reason` text,
	`resource` text,
	`tool_name` text,
	`network` text NOT NULL,
	`asset` text NOT NULL,
	`amount` text NOT NULL,
	`pay_to_hash` text NOT NULL,
	`extension_responses` text,
	`transaction_hash` text,
	`ended_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `settled_payments_by_time` ON `settled_payments` (`ended_at_ms`);--> statement-breakpoint
CREATE INDEX `settled_payments_by_tenant` ON `settled_payments` (`tenant`,`ended_at_ms`);--> statement-breakpoint
CREATE INDEX `settled_payments_by_wallet` ON `settled_payments` (`wallet_id`,`ended_at_ms`);--> statement-breakpoint
CREATE INDEX `paid_calls_by_time` ON `paid_calls` (`decided_at_ms`);