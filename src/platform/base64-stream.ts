// Standard base64, decoded digit by digit as it arrives: for texts too long to hold twice. Strict: padded, no white
// space, no spare bits set, nothing after the padding.

const EQUALS = 0x3d;
const NO_DIGIT = 255;

const DIGITS = new Uint8Array(256).fill(NO_DIGIT);
for (const [value, digit] of [
  ..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
].entries()) {
  DIGITS[digit.charCodeAt(0)] = value;
}

export class Base64Stream {
  /** The digits of the current group of four, six bits each. */
  #group = 0;
  #digits = 0;
  #padding = 0;
  #isOver = false;
  #decoded = new Uint8Array(0);
  #length = 0;

  /** Makes room for what the next `digits` digits may decode to. */
  open(digits: number): void {
    this.#decoded = new Uint8Array(3 * Math.ceil(digits / 4) + 3);
    this.#length = 0;
  }

  /** One digit, as its ASCII code; false when it cannot stand there. */
  push(code: number): boolean {
    if (this.#isOver) return false;
    let value = DIGITS[code] ?? NO_DIGIT;
    if (code === EQUALS && this.#digits >= 2) {
      this.#padding += 1;
      value = 0;
    } else if (value === NO_DIGIT || this.#padding > 0) return false;
    this.#group = (this.#group << 6) | value;
    this.#digits += 1;
    return this.#digits < 4 || this.#endGroup();
  }

  /** What the digits since `open` decoded to. */
  take(): Uint8Array<ArrayBuffer> {
    return this.#decoded.slice(0, this.#length);
  }

  /** Whether the text may end here. */
  isWhole(): boolean {
    return this.#digits === 0;
  }

  #endGroup(): boolean {
    const bytes = 3 - this.#padding;
    const spareBits = this.#group & (0xffffff >> (8 * bytes));
    if (spareBits !== 0 && this.#padding > 0) return false;
    for (let i = 0; i < bytes; i++) this.#decoded[this.#length++] = this.#group >> (16 - 8 * i);
    this.#isOver = this.#padding > 0;
    this.#group = 0;
    this.#digits = 0;
    return true;
  }
}
