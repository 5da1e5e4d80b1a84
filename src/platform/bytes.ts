// Bytes to text and back, and SHA-256. Small and without knowledge of payments. Base64 goes through UTF-8 bytes,
// because `btoa` throws on text outside Latin-1.

const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(encoder.encode(text));
}

const HEX_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Lower-case hex without a prefix. */
export function toHex(bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) hex += HEX_OF_BYTE[byte];
  return hex;
}

/** Bytes of an even-length hex string without a prefix; undefined when it is not one. */
export function fromHex(hex: string): Uint8Array<ArrayBuffer> | undefined {
  if (hex.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(hex)) return undefined;
  const bytes = new Uint8Array(hex.length / 2);
  writeHex(hex, bytes);
  return bytes;
}

/** Writes the bytes of hex digits to the start of `bytes`. By character codes: every verify decodes some hundreds. */
export function writeHex(hex: string, bytes: Uint8Array): void {
  for (let at = 0; at < hex.length / 2; at++) {
    bytes[at] = 16 * digitOf(hex.charCodeAt(2 * at)) + digitOf(hex.charCodeAt(2 * at + 1));
  }
}

/** "0" to "9" are 0x30 to 0x39; letters end in 1 to 6, in either case. */
function digitOf(code: number): number {
  return code < 0x40 ? code - 0x30 : (code & 0x0f) + 9;
}

/** Standard base64 with padding. In slices, because a call takes only so many arguments. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += BASE64_SLICE) {
    binary += String.fromCharCode(...bytes.subarray(at, at + BASE64_SLICE));
  }
  return btoa(binary);
}

const BASE64_SLICE = 8_192;

/**
 * Bytes of standard padded base64 in its one canonical spelling (no white space, no spare bits set); undefined when
 * it is not that.
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return toBase64(bytes) === text ? bytes : undefined;
}

/** Base64url without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Bytes of a base64url string without padding; undefined when it is not one. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}

export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** Lower-case hex SHA-256 of the text's UTF-8 bytes: 64 characters. */
export async function sha256Hex(text: string): Promise<string> {
  return toHex(await sha256(utf8(text)));
}

/**
 * Whether two secrets are equal, in time that depends on neither. Both sides are hashed first, so that the lengths
 * need not match (`timingSafeEqual` throws on unequal lengths).
 */
export async function equalInConstantTime(left: string, right: string): Promise<boolean> {
  const [a, b] = await Promise.all([sha256(utf8(left)), sha256(utf8(right))]);
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0;
}
