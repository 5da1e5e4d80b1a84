// Whose key signed this? Recovers the public key from an ECDSA signature over secp256k1, two to three times as fast
// as a general curve library does: one pass over both scalars, each halved by the curve's endomorphism, and only two
// inversions. Everything here is public and nothing takes constant time: no private key may ever pass through.
// Checked against @noble/curves in test/platform/secp256k1.test.ts.

/** The field's prime, the group's order (SEC 2, section 2.4.1). */
export const P = 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2fn;
export const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * In Jacobian coordinates: the affine point is (x / z², y / z³), and z = 0 is the point at infinity. Coordinates are
 * remainders of P that may be negative; only `toAffine` makes them canonical.
 */
interface Point {
  x: bigint;
  y: bigint;
  z: bigint;
}

const INFINITY: Point = { x: 0n, y: 1n, z: 0n };
export const G: Point = {
  x: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  y: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
  z: 1n,
};

export interface Signature {
  r: bigint;
  s: bigint;
  /** Whether the y of the signature's point is odd: v - 27. */
  isOdd: boolean;
}

/** The signer's public key as (x, y), or null where no key can have made the signature. `hash` is 256 bits. */
export function recoverPublicKey(hash: bigint, { r, s, isOdd }: Signature): { x: bigint; y: bigint } | null {
  if (r <= 0n || r >= N || s <= 0n || s >= N) return null;
  const root = squareRoot((r * r * r + 7n) % P);
  if (root === null) return null;
  const point = { x: r, y: ((root & 1n) === 1n) === isOdd ? root : P - root, z: 1n };
  const inverse = invert(r, N);
  const key = addMultiples(((N - (hash % N)) * inverse) % N, (s * inverse) % N, point);
  return key.z === 0n ? null : toAffine(key);
}

/** Width of the windows in bits: wider ones need fewer additions and larger tables. G's table is made once. */
const G_WINDOW = 8;
const POINT_WINDOW = 5;
let tablesOfG: Tables | undefined;

/** g * G + k * point. */
function addMultiples(g: bigint, k: bigint, point: Point): Point {
  tablesOfG ??= makeTables(
    oddMultiples(G, G_WINDOW).map((multiple) => ({ ...toAffine(multiple), z: 1n })),
    G_WINDOW,
  );
  const tablesOfPoint = makeTables(oddMultiples(point, POINT_WINDOW), POINT_WINDOW);
  const parts = [...halves(g, tablesOfG), ...halves(k, tablesOfPoint)];
  let sum = INFINITY;
  for (let place = Math.max(...parts.map(({ digits }) => digits.length)) - 1; place >= 0; place--) {
    sum = double(sum);
    for (const { digits, multiples } of parts) {
      const digit = digits[place] ?? 0;
      const multiple = multiples[Math.abs(digit) >> 1];
      if (digit !== 0 && multiple) sum = add(sum, digit > 0 ? multiple : negate(multiple));
    }
  }
  return sum;
}

/** A scalar of 128 bits as signed odd digits, with the point's odd multiples 1, 3, 5, ... that they stand for. */
interface Part {
  digits: number[];
  multiples: readonly Point[];
}

// The endomorphism: LAMBDA * (x, y) = (BETA * x, y), so that a scalar k is k1 + k2 * LAMBDA with halves of 128 bits
// (Guide to Elliptic Curve Cryptography, algorithm 3.74). The short vectors are (A1, B1) and (A2, A1).
const BETA = 0x7ae96a2b657c07106e64479eac3434e99cf0497512f58995c1396c28719501een;
const A1 = 0x3086d221a7d46bcde86c90e49284eb15n;
const B1 = -0xe4437ed6010e88286f547fa90abfe4c3n;
const A2 = 0x114ca50f7a8e2f3f657c1108d9d44cfd8n;

interface Tables {
  window: number;
  multiples: readonly Point[];
  /** The same of LAMBDA times the point. */
  turned: readonly Point[];
}

function makeTables(multiples: readonly Point[], window: number): Tables {
  return { window, multiples, turned: multiples.map(({ x, y, z }) => ({ x: (x * BETA) % P, y, z })) };
}

function halves(scalar: bigint, { window, multiples, turned }: Tables): [Part, Part] {
  const c1 = (A1 * scalar + N / 2n) / N;
  const c2 = (-B1 * scalar + N / 2n) / N;
  return [
    { digits: digitsOf(scalar - c1 * A1 - c2 * A2, window), multiples },
    { digits: digitsOf(-c1 * B1 - c2 * A1, window), multiples: turned },
  ];
}

/** Non-adjacent form: digits are 0 or odd, below half a window, and most are 0. Lowest place first. */
function digitsOf(scalar: bigint, window: number): number[] {
  const size = 1 << window;
  const sign = scalar < 0n ? -1 : 1;
  // Numbers from here on: a bigint for every place would cost more than the additions that it saves.
  const bits = (scalar < 0n ? -scalar : scalar).toString(2);
  const digits: number[] = [];
  let carry = 0;
  for (let end = bits.length; end > 0 || carry > 0; ) {
    const isOne = bits[end - 1] === "1";
    if (isOne === (carry === 1)) {
      digits.push(0);
      end--;
      continue;
    }
    const taken = end > 0 ? Number.parseInt(bits.slice(Math.max(0, end - window), end), 2) + carry : carry;
    carry = taken > size / 2 ? 1 : 0;
    digits.push(sign * (taken - carry * size));
    for (let zeros = 1; zeros < window; zeros++) digits.push(0);
    end -= window;
  }
  return digits;
}

/** 1, 3, 5, ... times the point, as many as digits of this window need. */
function oddMultiples(point: Point, window: number): Point[] {
  const twice = double(point);
  const multiples = [point];
  let last = point;
  while (multiples.length < 1 << (window - 2)) {
    last = add(last, twice);
    multiples.push(last);
  }
  return multiples;
}

function negate({ x, y, z }: Point): Point {
  return { x, y: -y, z };
}

/** Formulas "dbl-1998-cmo-2" of the Explicit-Formulas Database, with a = 0. No point of this curve has y = 0. */
function double({ x, y, z }: Point): Point {
  if (z === 0n) return INFINITY;
  const yy = (2n * y * y) % P;
  const s = (2n * x * yy) % P;
  const m = (3n * x * x) % P;
  const newX = (m * m - 2n * s) % P;
  return { x: newX, y: (m * (s - newX) - 2n * yy * yy) % P, z: (2n * y * z) % P };
}

/** "add-1998-cmo-2", and "madd" of the same where the second point has z = 1. */
function add(first: Point, second: Point): Point {
  if (first.z === 0n) return second;
  const zz1 = (first.z * first.z) % P;
  const zzz1 = (zz1 * first.z) % P;
  let u1 = first.x;
  let s1 = first.y;
  let z = first.z;
  if (second.z !== 1n) {
    const zz2 = (second.z * second.z) % P;
    u1 = (u1 * zz2) % P;
    s1 = (s1 * ((second.z * zz2) % P)) % P;
    z = (z * second.z) % P;
  }
  const h = (second.x * zz1 - u1) % P;
  const r = (second.y * zzz1 - s1) % P;
  if (h === 0n) return r === 0n ? double(first) : INFINITY;
  const hh = (h * h) % P;
  const hhh = (h * hh) % P;
  const v = (u1 * hh) % P;
  const newX = (r * r - hhh - 2n * v) % P;
  return { x: newX, y: (r * (v - newX) - s1 * hhh) % P, z: (z * h) % P };
}

function toAffine({ x, y, z }: Point): { x: bigint; y: bigint } {
  const inverse = invert(z, P);
  const square = (inverse * inverse) % P;
  return { x: remainder(x * square), y: remainder(y * ((square * inverse) % P)) };
}

function remainder(value: bigint): bigint {
  const rest = value % P;
  return rest < 0n ? rest + P : rest;
}

/** By Euclid; `value` and `modulus` have no common divisor. */
function invert(value: bigint, modulus: bigint): bigint {
  let [low, high] = [value % modulus, modulus];
  if (low < 0n) low += modulus;
  let [factor, previous] = [1n, 0n];
  while (low !== 0n) {
    const quotient = high / low;
    [high, low] = [low, high - quotient * low];
    [previous, factor] = [factor, previous - quotient * factor];
  }
  return previous < 0n ? previous + modulus : previous;
}

/** value^((P + 1) / 4), which is a root where there is one: P is 3 modulo 4. Null where there is none. */
function squareRoot(value: bigint): bigint | null {
  // The exponent is 223 ones, a zero, 22 ones, 0000, 11, 00.
  const ones2 = (power(value, 1) * value) % P;
  const ones3 = (power(ones2, 1) * value) % P;
  const ones6 = (power(ones3, 3) * ones3) % P;
  const ones9 = (power(ones6, 3) * ones3) % P;
  const ones11 = (power(ones9, 2) * ones2) % P;
  const ones22 = (power(ones11, 11) * ones11) % P;
  const ones44 = (power(ones22, 22) * ones22) % P;
  const ones88 = (power(ones44, 44) * ones44) % P;
  const ones176 = (power(ones88, 88) * ones88) % P;
  const ones220 = (power(ones176, 44) * ones44) % P;
  const ones223 = (power(ones220, 3) * ones3) % P;
  const upper = (power(ones223, 23) * ones22) % P;
  const root = power((power(upper, 6) * ones2) % P, 2);
  return (root * root) % P === value ? root : null;
}

/** Squared so many times. */
function power(value: bigint, squarings: number): bigint {
  let result = value;
  for (let step = 0; step < squarings; step++) result = (result * result) % P;
  return result;
}
