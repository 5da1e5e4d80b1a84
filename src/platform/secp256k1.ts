// Whose key signed this? Recovers the public key from an ECDSA signature over secp256k1, two to three times as fast
// as a general curve library does: one pass over both scalars, each halved by the curve's endomorphism, and only two
// inversions. Everything here is public and nothing takes constant time: no private key may ever pass through.
// Checked against @noble/curves in test/platform/secp256k1.test.ts.

/** The field's prime, the group's order (SEC 2, section 2.4.1). */
export const P = 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2fn;
export const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

interface Affine {
  x: bigint;
  y: bigint;
}

/**
 * In Jacobian coordinates: the affine point is (x / z², y / z³), and z = 0 is the point at infinity. Coordinates are
 * remainders of P that may be negative; only `remainder` makes them canonical.
 */
interface Point extends Affine {
  z: bigint;
}

const INFINITY: Point = { x: 0n, y: 1n, z: 0n };
export const G: Affine = {
  x: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  y: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
};

export interface Signature {
  r: bigint;
  s: bigint;
  /** Whether the y of the signature's point is odd: v - 27. */
  isOdd: boolean;
}

/** The signer's public key as (x, y), or null where no key can have made the signature. `hash` is 256 bits. */
export function recoverPublicKey(hash: bigint, { r, s, isOdd }: Signature): Affine | null {
  if (r <= 0n || r >= N || s <= 0n || s >= N) return null;
  const root = squareRoot((r * r * r + 7n) % P);
  if (root === null) return null;
  const point = { x: r, y: ((root & 1n) === 1n) === isOdd ? root : P - root };
  const inverse = invert(r, N);
  const key = addMultiples(((N - (hash % N)) * inverse) % N, (s * inverse) % N, point);
  return key.z === 0n ? null : toAffine(key);
}

/** Width of the windows in bits: wider ones need fewer additions and larger tables. G's table is made once. */
const G_WINDOW = 9;
const POINT_WINDOW = 5;
let tablesOfG: Tables | undefined;

/**
 * g * G + k * point. The point's multiples share one z. With it divided out they are affine, of a curve that differs in a
 * constant which no formula here names; the sum is taken there, and gets its z back in the end.
 */
function addMultiples(g: bigint, k: bigint, point: Affine): Point {
  tablesOfG ??= makeTables(affineMultiples(G, G_WINDOW), G_WINDOW);
  const { multiples, z } = oddMultiples(point, POINT_WINDOW);
  const parts = [
    ...halves(g, tablesOfG).map((part) => ({ ...part, z })),
    ...halves(k, makeTables(multiples, POINT_WINDOW)).map((part) => ({ ...part, z: 1n })),
  ];
  let sum = INFINITY;
  for (let place = Math.max(...parts.map(({ digits }) => digits.length)) - 1; place >= 0; place--) {
    sum = double(sum);
    for (const part of parts) {
      const digit = part.digits[place] ?? 0;
      const multiple = part.multiples[Math.abs(digit) >> 1];
      if (digit !== 0 && multiple) sum = add(sum, digit > 0 ? multiple : negate(multiple), part.z);
    }
  }
  return { ...sum, z: (sum.z * z) % P };
}

/** A scalar of 128 bits as signed odd digits, with the point's odd multiples 1, 3, 5, ... that they stand for. */
interface Part {
  digits: number[];
  multiples: readonly Affine[];
}

// The endomorphism: LAMBDA * (x, y) = (BETA * x, y), so that a scalar k is k1 + k2 * LAMBDA with halves of 128 bits
// (Guide to Elliptic Curve Cryptography, algorithm 3.74). The short vectors are (A1, B1) and (A2, A1).
const BETA = 0x7ae96a2b657c07106e64479eac3434e99cf0497512f58995c1396c28719501een;
const A1 = 0x3086d221a7d46bcde86c90e49284eb15n;
const B1 = -0xe4437ed6010e88286f547fa90abfe4c3n;
const A2 = 0x114ca50f7a8e2f3f657c1108d9d44cfd8n;

interface Tables {
  window: number;
  multiples: readonly Affine[];
  /** The same of LAMBDA times the point. */
  turned: readonly Affine[];
}

function makeTables(multiples: readonly Affine[], window: number): Tables {
  return { window, multiples, turned: multiples.map(({ x, y }) => ({ x: (x * BETA) % P, y })) };
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

/**
 * 1, 3, 5, ... times the point, as many as digits of this window need, all with one z. Twice the point is added again and
 * again; each addition also gives the summand with the sum's z, which costs nothing ("zaddu" of the same database).
 */
function oddMultiples({ x, y }: Affine, window: number): { multiples: Affine[]; z: bigint } {
  const twice = double({ x, y, z: 1n });
  const yy = (y * y) % P;
  let summand: Affine = twice;
  let last: Affine = { x: (4n * x * yy) % P, y: (8n * yy * yy) % P };
  let z = twice.z;
  const found = [{ ...last, growth: 1n }];
  while (found.length < 1 << (window - 2)) {
    const growth = summand.x - last.x;
    const square = (growth * growth) % P;
    const [sx, lx] = [(summand.x * square) % P, (last.x * square) % P];
    const sy = (summand.y * (sx - lx)) % P;
    const rise = summand.y - last.y;
    const sumX = (rise * rise - sx - lx) % P;
    last = { x: sumX, y: (rise * (sx - sumX) - sy) % P };
    summand = { x: sx, y: sy };
    z = (z * growth) % P;
    found.push({ ...last, growth });
  }
  const multiples: Affine[] = [];
  for (let toLast = 1n, at = found.length - 1; at >= 0; at--) {
    const { x, y, growth } = found[at] as (typeof found)[number];
    const square = (toLast * toLast) % P;
    multiples.unshift({ x: (x * square) % P, y: (y * ((square * toLast) % P)) % P });
    toLast = (toLast * growth) % P;
  }
  return { multiples, z };
}

function affineMultiples(point: Affine, window: number): Affine[] {
  const { multiples, z } = oddMultiples(point, window);
  const inverse = invert(z, P);
  return multiples.map((multiple) => dividedBy(inverse, multiple));
}

function negate({ x, y }: Affine): Affine {
  return { x, y: -y };
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

/** "madd" of the same, to a sum from which `z` was divided out. */
function add(sum: Point, { x, y }: Affine, z: bigint): Point {
  const fullZ = z === 1n ? sum.z : (sum.z * z) % P;
  if (sum.z === 0n) {
    const zz = (z * z) % P;
    return { x: (x * zz) % P, y: (y * ((zz * z) % P)) % P, z: 1n };
  }
  const zz = (fullZ * fullZ) % P;
  const h = (x * zz - sum.x) % P;
  const r = (y * ((zz * fullZ) % P) - sum.y) % P;
  if (h === 0n) return r === 0n ? double(sum) : INFINITY;
  const hh = (h * h) % P;
  const hhh = (h * hh) % P;
  const v = (sum.x * hh) % P;
  const newX = (r * r - hhh - 2n * v) % P;
  return { x: newX, y: (r * (v - newX) - sum.y * hhh) % P, z: (sum.z * h) % P };
}

function toAffine(point: Point): Affine {
  return dividedBy(invert(point.z, P), point);
}

/** (x / z², y / z³), given 1 / z. */
function dividedBy(inverse: bigint, { x, y }: Affine): Affine {
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
