-- Full-text search over listings. Written by hand: drizzle-kit knows no virtual tables. Every stem is made in
-- src/bazaar/search/search-words.ts, so the tokenizer only splits at spaces; the row id is that of `listings`.
CREATE VIRTUAL TABLE listing_search USING fts5(
  name, tags, route, parameters, description, host, stuffed UNINDEXED,
  tokenize = "unicode61 remove_diacritics 0"
);
--> statement-breakpoint
-- How many listings each stem is in.
CREATE VIRTUAL TABLE listing_search_terms USING fts5vocab(listing_search, row);
--> statement-breakpoint
CREATE TRIGGER listing_search_follows_delete AFTER DELETE ON listings BEGIN
  DELETE FROM listing_search WHERE rowid = old.row_id;
END;
--> statement-breakpoint
-- Words as sellers write them, for misspelt queries: what was typed is compared by the trigrams it shares. The marks
-- around a word make its first and last letters count.
CREATE TABLE search_words (
  id INTEGER PRIMARY KEY,
  word TEXT NOT NULL UNIQUE,
  stem TEXT NOT NULL
);
--> statement-breakpoint
CREATE VIRTUAL TABLE search_word_trigrams USING fts5(
  marked, content = '', columnsize = 0, tokenize = "trigram"
);
--> statement-breakpoint
CREATE TRIGGER search_words_have_trigrams AFTER INSERT ON search_words BEGIN
  INSERT INTO search_word_trigrams (rowid, marked) VALUES (new.id, '^' || new.word || '$');
END;
--> statement-breakpoint
-- One row. The generation is part of every cursor. To rebuild the index, raise it: every listing is then due to be
-- indexed anew, by the hourly job or by its next payment; entries stay until they are replaced, so searches go on.
CREATE TABLE search_index (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  generation INTEGER NOT NULL
);
--> statement-breakpoint
INSERT INTO search_index (id, generation) VALUES (1, 1);
--> statement-breakpoint
CREATE TRIGGER search_index_is_rebuilt AFTER UPDATE OF generation ON search_index BEGIN
  DELETE FROM listing_search WHERE rowid NOT IN (SELECT row_id FROM listings);
  DELETE FROM search_words;
  INSERT INTO search_word_trigrams (search_word_trigrams) VALUES ('delete-all');
  UPDATE listings SET indexed_hash = NULL;
END;
