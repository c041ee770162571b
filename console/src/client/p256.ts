// Keys on P-256: WebCrypto does the signing, and never shows the private half. It
// does not tell the public half of a private key either, so that is computed here.
import { base64url, concat, fromHex, hex, utf8 } from './bytes';

const p = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const n = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const g: Point = [
  0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
];

type Point = [x: bigint, y: bigint];

const mod = (a: bigint) => ((a % p) + p) % p;

function inverse(a: bigint): bigint {
  let [r, s, x, y] = [mod(a), p, 1n, 0n];
  while (r > 1n) {
    const q = s / r;
    [s, r] = [r, s % r];
    [y, x] = [x, y - q * x];
  }
  return mod(x);
}

function add(a: Point | undefined, b: Point): Point {
  if (!a) return b;
  const slope = a[0] === b[0] ? mod((3n * a[0] * a[0] - 3n) * inverse(2n * a[1])) : mod((b[1] - a[1]) * inverse(b[0] - a[0]));
  const x = mod(slope * slope - a[0] - b[0]);
  return [x, mod(slope * (a[0] - x) - a[1])];
}

function publicPoint(scalar: bigint): Point {
  let sum: Point | undefined;
  let power = g;
  for (let k = scalar; k > 0n; k >>= 1n) {
    if (k & 1n) sum = add(sum, power);
    power = add(power, power);
  }
  return sum!;
}

const bytes32 = (v: bigint) => fromHex(v.toString(16).padStart(64, '0'))!;

const compressed = ([x, y]: Point) => (y & 1n ? '03' : '02') + hex(bytes32(x));

export interface KeyPair {
  publicKey: string; // compressed, hex
  privateKey: CryptoKey; // cannot be extracted
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };

const webKey = ([x, y]: Point) => ({ kty: 'EC', crv: 'P-256', x: base64url(bytes32(x)), y: base64url(bytes32(y)) });

function pointOf(secret: Uint8Array | undefined): Point | undefined {
  const scalar = secret?.length === 32 ? BigInt('0x' + hex(secret)) : 0n;
  return scalar === 0n || scalar >= n ? undefined : publicPoint(scalar);
}

// importKey makes a key of its 64 hex digits; undefined if they are none.
export async function importKey(digits: string): Promise<KeyPair | undefined> {
  const bytes = fromHex(digits);
  const point = pointOf(bytes);
  if (!point) return undefined;
  const jwk = { ...webKey(point), d: base64url(bytes!) };
  return { publicKey: compressed(point), privateKey: await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['sign']) };
}

// importReceiver makes a pair that things are sealed to of its private half;
// undefined if that is none.
export async function importReceiver(secret: Uint8Array): Promise<CryptoKeyPair | undefined> {
  const point = pointOf(secret);
  if (!point) return undefined;
  const agreement = { name: 'ECDH', namedCurve: 'P-256' };
  return {
    publicKey: await crypto.subtle.importKey('jwk', webKey(point), agreement, true, []),
    privateKey: await crypto.subtle.importKey('jwk', { ...webKey(point), d: base64url(secret) }, agreement, false, ['deriveBits']),
  };
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = mod(base), k = exponent; k > 0n; k >>= 1n, square = mod(square * square)) if (k & 1n) result = mod(result * square);
  return result;
}

const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

// uncompressed writes a compressed point in full; undefined if it is not on the curve.
export function uncompressed(point: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (point.length !== 33 || (point[0] !== 2 && point[0] !== 3)) return undefined;
  const x = BigInt('0x' + hex(point.slice(1)));
  const square = mod(x * x * x - 3n * x + b);
  const root = power(square, (p + 1n) / 4n); // p is 3 modulo 4
  if (x >= p || mod(root * root) !== square) return undefined;
  const y = (root & 1n) === BigInt(point[0] & 1) ? root : p - root;
  return concat(Uint8Array.of(4), bytes32(x), bytes32(y));
}

export async function generateKey(): Promise<KeyPair> {
  const pair = await crypto.subtle.generateKey(algorithm, false, ['sign']);
  const raw = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
  return { publicKey: (raw[64] & 1 ? '03' : '02') + hex(raw.slice(1, 33)), privateKey: pair.privateKey };
}

// generateSecret makes a key for another person, whose private half leaves this page.
export async function generateSecret(): Promise<{ publicKey: string; secret: string }> {
  const pair = await crypto.subtle.generateKey(algorithm, true, ['sign']);
  const { d } = await crypto.subtle.exportKey('jwk', pair.privateKey);
  const raw = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
  const secret = atob(d!.replaceAll('-', '+').replaceAll('_', '/'));
  return {
    publicKey: (raw[64] & 1 ? '03' : '02') + hex(raw.slice(1, 33)),
    secret: hex(Uint8Array.from(secret, (c) => c.charCodeAt(0))),
  };
}

// A DER integer without needless zeros.
function derInteger(value: Uint8Array): number[] {
  let start = 0;
  while (start < value.length - 1 && value[start] === 0) start++;
  const digits = Array.from(value.slice(start));
  if (digits[0] >= 0x80) digits.unshift(0);
  return [0x02, digits.length, ...digits];
}

async function signature(key: KeyPair, body: string): Promise<string> {
  const raw = new Uint8Array(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key.privateKey, utf8(body)));
  const both = [...derInteger(raw.slice(0, 32)), ...derInteger(raw.slice(32))];
  return hex(Uint8Array.from([0x30, both.length, ...both]));
}

type Header = [name: string, value: string];

const header = (name: string, stamp: Record<string, string>): Header => [name, base64url(utf8(JSON.stringify(stamp)))];

// stampWith is the header by which a key signs a body.
export const stampWith = async (key: KeyPair, body: string): Promise<Header> =>
  header('X-Stamp', { publicKey: key.publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature: await signature(key, body) });

// stampAttested is that of a key which a token of the server vouches for.
export const stampAttested = async (key: KeyPair, token: string, body: string): Promise<Header> =>
  header('X-Stamp-Attested', {
    publicKeyAttestation: token, scheme: 'STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN', publicKey: key.publicKey, signature: await signature(key, body),
  });
