CREATE TABLE `calls` (
	`settlement_id` text PRIMARY KEY NOT NULL,
	`listing_id` text NOT NULL,
	`pay_to` text NOT NULL,
	`payer` text NOT NULL,
	`at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `calls_by_listing` ON `calls` (`listing_id`,`payer`);--> statement-breakpoint
CREATE INDEX `calls_by_time` ON `calls` (`at_ms`);--> statement-breakpoint
CREATE TABLE `listing_texts` (
	`listing_id` text NOT NULL,
	`pay_to` text NOT NULL,
	`first_ms` integer NOT NULL,
	`first_settlement` text NOT NULL,
	`newest_ms` integer NOT NULL,
	`newest_settlement` text NOT NULL,
	`content` text NOT NULL,
	`text_hash` text NOT NULL,
	PRIMARY KEY(`listing_id`, `pay_to`)
);
--> statement-breakpoint
CREATE INDEX `listing_texts_by_pay_to` ON `listing_texts` (`pay_to`,`first_ms`);--> statement-breakpoint
CREATE TABLE `listings` (
	`row_id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`type` text NOT NULL,
	`resource` text NOT NULL,
	`host` text NOT NULL,
	`route_template` text,
	`method` text,
	`tool_name` text,
	`x402_version` integer NOT NULL,
	`example_url` text,
	`service_name` text,
	`tags` text DEFAULT '[]' NOT NULL,
	`icon_url` text,
	`description` text,
	`mime_type` text,
	`bazaar` text NOT NULL,
	`extensions` text DEFAULT '{}' NOT NULL,
	`text_hash` text NOT NULL,
	`indexed_hash` text,
	`owner_pay_to` text NOT NULL,
	`owner_source` text DEFAULT 'first_seen' NOT NULL,
	`state` text DEFAULT 'listed' NOT NULL,
	`hidden_reason` text,
	`first_listed_ms` integer NOT NULL,
	`last_updated_ms` integer NOT NULL,
	`calls_30d` integer DEFAULT 0 NOT NULL,
	`payers_30d` integer DEFAULT 0 NOT NULL,
	`last_called_ms` integer DEFAULT 0 NOT NULL,
	`recount` integer DEFAULT 0 NOT NULL,
	`verified_at_ms` integer,
	`last_probe_at_ms` integer,
	`failing_since_ms` integer,
	`misses` integer DEFAULT 0 NOT NULL,
	`health` text DEFAULT 'unprobed' NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `listings_id_unique` ON `listings` (`id`);--> statement-breakpoint
CREATE INDEX `listings_by_first_listed` ON `listings` (`state`,`first_listed_ms`,`id`);--> statement-breakpoint
CREATE INDEX `listings_by_owner` ON `listings` (`owner_pay_to`);--> statement-breakpoint
CREATE INDEX `listings_by_host` ON `listings` (`host`);--> statement-breakpoint
CREATE TABLE `observations` (
	`hash` text PRIMARY KEY NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`resource` text NOT NULL,
	`tool_name` text,
	`updated_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `observations_by_time` ON `observations` (`updated_ms`);--> statement-breakpoint
CREATE INDEX `observations_lost` ON `observations` (`status`) WHERE status = 'lost';--> statement-breakpoint
CREATE TABLE `offers` (
	`listing_id` text NOT NULL,
	`scheme` text NOT NULL,
	`method` text NOT NULL,
	`network` text NOT NULL,
	`asset` text NOT NULL,
	`pay_to` text NOT NULL,
	`amount` text NOT NULL,
	`usd_micros` integer,
	`requirements` text NOT NULL,
	`confirmed` integer DEFAULT 0 NOT NULL,
	`confirmed_at_ms` integer,
	`updated_ms` integer NOT NULL,
	`updated_settlement` text NOT NULL,
	PRIMARY KEY(`listing_id`, `scheme`, `method`, `network`, `asset`, `pay_to`)
);
--> statement-breakpoint
CREATE INDEX `offers_by_pay_to` ON `offers` (`pay_to`);