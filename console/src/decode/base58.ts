// Texts of keys and addresses.
import { concat, sha256 } from '../client/bytes';

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

// segwit writes a witness program: bech32 for version 0, bech32m for others.
export function segwit(prefix: string, version: number, program: Uint8Array): string {
  const data = [version];
  let [bits, held] = [0, 0];
  for (const b of program) {
    held = (held << 8) | b;
    for (bits += 8; bits >= 5; bits -= 5) data.push((held >>> (bits - 5)) & 31);
    held &= (1 << bits) - 1;
  }
  if (bits > 0) data.push((held << (5 - bits)) & 31);
  const head = [...prefix].map((c) => c.charCodeAt(0));
  const all = [...head.map((c) => c >> 5), 0, ...head.map((c) => c & 31), ...data, 0, 0, 0, 0, 0, 0];
  const sum = checksum(all) ^ (version === 0 ? 1 : 0x2bc830a3);
  return `${prefix}1${[...data, ...[25, 20, 15, 10, 5, 0].map((s) => (sum >>> s) & 31)].map((v) => letters[v]).join('')}`;
}
