// Texts of keys and addresses.
import { concat, fromHex, sha256 } from '../client/bytes';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

export function base58(bytes: Uint8Array): string {
  let number = 0n;
  for (const b of bytes) number = (number << 8n) | BigInt(b);
  let text = '';
  for (; number > 0n; number /= 58n) text = alphabet[Number(number % 58n)] + text;
  for (const b of bytes) {
    if (b !== 0) break;
    text = '1' + text;
  }
  return text;
}

export async function base58check(payload: Uint8Array): Promise<string> {
  const sum = await sha256(await sha256(concat(payload)));
  return base58(concat(payload, sum.slice(0, 4)));
}

// fromBase58 reads what base58 writes; undefined if it is nothing of the kind.
export function fromBase58(text: string): Uint8Array<ArrayBuffer> | undefined {
  let number = 0n;
  for (const c of text) {
    const digit = alphabet.indexOf(c);
    if (digit < 0) return undefined;
    number = number * 58n + BigInt(digit);
  }
  const zeros = text.length - text.replace(/^1+/, '').length;
  const digits = number === 0n ? '' : number.toString(16);
  return concat(new Uint8Array(zeros), fromHex(digits.length % 2 ? '0' + digits : digits)!);
}

// fromBase58check reads what base58check writes; undefined if its sum is not right.
export async function fromBase58check(text: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const payload = fromBase58(text)?.slice(0, -4);
  return payload && (await base58check(payload)) === text ? payload : undefined;
}

const letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

function checksum(values: number[]): number {
  let sum = 1;
  for (const v of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ v;
    [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].forEach((g, i) => (sum ^= (top >>> i) & 1 ? g : 0));
  }
  return sum;
}

// regroup writes bits in groups of another size, the last one filled with zeros.
function regroup(values: Iterable<number>, from: number, to: number): number[] {
  const out: number[] = [];
  let [bits, held] = [0, 0];
  for (const v of values) {
    held = (held << from) | v;
    for (bits += from; bits >= to; bits -= to) out.push((held >>> (bits - to)) & ((1 << to) - 1));
    held &= (1 << bits) - 1;
  }
  if (bits > 0) out.push((held << (to - bits)) & ((1 << to) - 1));
  return out;
}

function bech32(prefix: string, data: number[], constant: number): string {
  const head = [...prefix].map((c) => c.charCodeAt(0));
  const all = [...head.map((c) => c >> 5), 0, ...head.map((c) => c & 31), ...data, 0, 0, 0, 0, 0, 0];
  const sum = checksum(all) ^ constant;
  return `${prefix}1${[...data, ...[25, 20, 15, 10, 5, 0].map((s) => (sum >>> s) & 31)].map((v) => letters[v]).join('')}`;
}

// segwit writes a witness program: bech32 for version 0, bech32m for others.
export const segwit = (prefix: string, version: number, program: Uint8Array): string =>
  bech32(prefix, [version, ...regroup(program, 8, 5)], version === 0 ? 1 : 0x2bc830a3);

export const bech32Bytes = (prefix: string, bytes: Uint8Array): string => bech32(prefix, regroup(bytes, 8, 5), 1);

// fromBech32Bytes reads what bech32Bytes writes; undefined if it is nothing of the kind.
export function fromBech32Bytes(prefix: string, text: string): Uint8Array<ArrayBuffer> | undefined {
  const values = [...text.slice(prefix.length + 1, -6)].map((c) => letters.indexOf(c));
  const bytes = Uint8Array.from(regroup(values, 5, 8).slice(0, Math.floor((values.length * 5) / 8)));
  return bech32Bytes(prefix, bytes) === text ? bytes : undefined;
}
