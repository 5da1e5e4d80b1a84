// Reads `{transactionId, responseBodyBase64}` byte by byte, decoding the one long member as it passes and keeping all
// the rest for JSON.parse. So a response of megabytes is hashed without ever being in memory as a whole. Pure: where
// decoded bytes go is the caller's.

import { Base64Stream } from "../platform/base64-stream.ts";

/** The member that is decoded; in what is kept, its value is the empty string. */
export const STREAMED_MEMBER = "responseBodyBase64";

/** Everything but the streamed value: a transaction id and punctuation need a hundredth of it. */
const MAX_KEPT_BYTES = 16 * 1024;

export type ScanProblem = "not_json" | "not_base64" | "rest_too_large";

const QUOTE = 0x22;
const COMMA = 0x2c;
const SLASH = 0x2f;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const LOWER_U = 0x75;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export class CompletionScanner {
  readonly #kept = new Uint8Array(MAX_KEPT_BYTES);
  #keptLength = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isKeyNext = false;
  /** Where the current string's opening quote stands in what is kept. */
  #stringAt = 0;
  /** The key whose value comes next, at the top level. */
  #key: string | undefined;

  readonly #base64 = new Base64Stream();
  #isStreaming = false;
  #streamedMembers = 0;
  /** What follows a backslash inside the streamed string, while it is not complete. */
  #escape: number[] | undefined;

  /** The next bytes of the body. Returns what they decode to, or a problem, after which nothing more is fed. */
  feed(chunk: Uint8Array): Uint8Array<ArrayBuffer> | ScanProblem {
    this.#base64.open(chunk.length);
    for (const byte of chunk) {
      if (this.#isStreaming) {
        if (!this.#stream(byte)) return "not_base64";
      } else {
        if (this.#keptLength === MAX_KEPT_BYTES) return "rest_too_large";
        this.#kept[this.#keptLength++] = byte;
        if (this.#isInString) this.#passString(byte);
        else this.#passPunctuation(byte);
      }
    }
    return this.#base64.take();
  }

  /** What was kept, parsed, once the body has ended. */
  end(): { ok: true; value: unknown } | { ok: false; problem: ScanProblem } {
    if (!this.#base64.isWhole()) return { ok: false, problem: "not_base64" };
    // Two bodies in one request: which of them the hash belongs to would be a guess.
    if (this.#isStreaming || this.#streamedMembers > 1) return { ok: false, problem: "not_json" };
    try {
      const kept = this.#kept.subarray(0, this.#keptLength);
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(kept);
      return { ok: true, value: JSON.parse(text) };
    } catch {
      return { ok: false, problem: "not_json" };
    }
  }

  #passString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) {
      this.#isInString = false;
      if (this.#depth === 1 && this.#isKeyNext) this.#key = this.#lastString();
    }
  }

  /** Follows only the structure; whether it is JSON at all is for JSON.parse to say. */
  #passPunctuation(byte: number): void {
    switch (byte) {
      case QUOTE:
        this.#openString();
        break;
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        this.#depth += 1;
        if (this.#depth === 1) this.#isKeyNext = byte === OPEN_OBJECT;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        this.#depth -= 1;
        break;
      case COMMA:
        if (this.#depth === 1) this.#isKeyNext = true;
        break;
      case COLON:
        if (this.#depth === 1) this.#isKeyNext = false;
        break;
    }
  }

  #openString(): void {
    const isStreamed = this.#depth === 1 && !this.#isKeyNext && this.#key === STREAMED_MEMBER;
    if (isStreamed) {
      this.#isStreaming = true;
      this.#streamedMembers += 1;
    } else {
      this.#isInString = true;
      this.#stringAt = this.#keptLength - 1;
    }
  }

  #lastString(): string | undefined {
    const literal = new TextDecoder().decode(this.#kept.subarray(this.#stringAt, this.#keptLength));
    try {
      return JSON.parse(literal) as string;
    } catch {
      return undefined; // Broken JSON: the end says so.
    }
  }

  /** One byte of the streamed string; false when it is not base64. */
  #stream(byte: number): boolean {
    if (this.#escape) return this.#streamEscape(this.#escape, byte);
    if (byte === BACKSLASH) {
      this.#escape = [];
      return true;
    }
    if (byte !== QUOTE) return this.#base64.push(byte);
    this.#isStreaming = false;
    if (this.#keptLength < MAX_KEPT_BYTES) this.#kept[this.#keptLength++] = QUOTE;
    return true;
  }

  /** Writers of JSON may escape any character, and some always escape the slash. */
  #streamEscape(sequence: number[], byte: number): boolean {
    sequence.push(byte);
    const isUnicode = sequence[0] === LOWER_U;
    if (isUnicode && sequence.length < 5) return true;
    this.#escape = undefined;
    if (!isUnicode) return byte === SLASH && this.#base64.push(SLASH);
    const hex = String.fromCharCode(...sequence.slice(1));
    return /^[0-9a-fA-F]{4}$/.test(hex) && this.#base64.push(Number.parseInt(hex, 16));
  }
}
