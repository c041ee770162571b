// Keccak-256, as Ethereum uses it, which WebCrypto does not have.
import { hex, utf8 } from '../client/bytes';

const mask = (1n << 64n) - 1n;
const rotate = (v: bigint, by: number) => ((v << BigInt(by)) | (v >> BigInt(64 - by))) & mask;

// The round constants and the offsets of rho, computed as the standard defines them.
const constants: bigint[] = [];
{
  let register = 1;
  for (let round = 0; round < 24; round++) {
    let value = 0n;
    for (let j = 0; j < 7; j++) {
      if (register & 1) value |= 1n << BigInt((1 << j) - 1);
      register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1;
    }
    constants.push(value);
  }
}

function permute(a: bigint[]): void {
  for (const constant of constants) {
    const column = [0, 1, 2, 3, 4].map((x) => a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20]);
    for (let i = 0; i < 25; i++) a[i] ^= column[((i % 5) + 4) % 5] ^ rotate(column[((i % 5) + 1) % 5], 1);
    let [x, y, moved] = [1, 0, a[1]];
    for (let step = 1; step <= 24; step++) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      const next = a[x + 5 * y];
      a[x + 5 * y] = rotate(moved, ((step * (step + 1)) / 2) % 64);
      moved = next;
    }
    for (let row = 0; row < 25; row += 5) {
      const r = a.slice(row, row + 5);
      for (let i = 0; i < 5; i++) a[row + i] = r[i] ^ (~r[(i + 1) % 5] & mask & r[(i + 2) % 5]);
    }
    a[0] ^= constant;
  }
}

export function keccak256(data: Uint8Array): Uint8Array<ArrayBuffer> {
  const rate = 136;
  const padded = new Uint8Array(Math.ceil((data.length + 1) / rate) * rate);
  padded.set(data);
  padded[data.length] = 1;
  padded[padded.length - 1] |= 0x80;
  const state = new Array<bigint>(25).fill(0n);
  for (let block = 0; block < padded.length; block += rate) {
    for (let i = 0; i < rate / 8; i++) {
      let lane = 0n;
      for (let b = 7; b >= 0; b--) lane = (lane << 8n) | BigInt(padded[block + 8 * i + b]);
      state[i] ^= lane;
    }
    permute(state);
  }
  return Uint8Array.from({ length: 32 }, (_, i) => Number((state[i >> 3] >> BigInt(8 * (i % 8))) & 0xffn));
}

// checksummed writes an Ethereum address with the letters of EIP-55.
export function checksummed(address: Uint8Array): string {
  const digits = hex(address);
  const hash = hex(keccak256(utf8(digits)));
  return '0x' + Array.from(digits, (c, i) => (parseInt(hash[i], 16) >= 8 ? c.toUpperCase() : c)).join('');
}
