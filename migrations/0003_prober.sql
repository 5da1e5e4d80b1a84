CREATE TABLE `claim_nonces` (
	`pay_to` text NOT NULL,
	`nonce` text NOT NULL,
	`expires_ms` integer NOT NULL,
	PRIMARY KEY(`pay_to`, `nonce`)
);
--> statement-breakpoint
CREATE INDEX `claim_nonces_by_expiry` ON `claim_nonces` (`expires_ms`);--> statement-breakpoint
CREATE TABLE `listing_decisions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`listing_id` text NOT NULL,
	`action` text NOT NULL,
	`by` text NOT NULL,
	`reason` text,
	`at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `listing_decisions_by_listing` ON `listing_decisions` (`listing_id`,`at_ms`);--> statement-breakpoint
CREATE TABLE `probed_hosts` (
	`host` text PRIMARY KEY NOT NULL,
	`at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `probed_hosts_by_time` ON `probed_hosts` (`at_ms`);--> statement-breakpoint
ALTER TABLE `listings` ADD `next_probe_ms` integer DEFAULT 0;--> statement-breakpoint
CREATE INDEX `listings_by_next_probe` ON `listings` (`next_probe_ms`);--> statement-breakpoint
ALTER TABLE `offers` ADD `denied_at_ms` integer;--> statement-breakpoint
ALTER TABLE `offers` ADD `withdrawn_at_ms` integer;