// Signatures as Ethereum and Solana want them.
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';

import { concat, fromHex, hex, utf8 } from '../src/client/bytes';
import { keccak256 } from '../src/decode/keccak';
import { decodeList } from '../src/decode/rlp';
import { Refused } from './channel';

type Bytes = Uint8Array<ArrayBuffer>;

export interface Chain {
  message(key: Bytes, message: string): string;
  transaction(key: Bytes, transaction: string): string;
}

interface Signature {
  odd: number; // whether y of the point is
  r: Bytes;
  s: Bytes;
}

function ecdsa(key: Bytes, hash: Bytes): Signature {
  const [odd, ...both] = secp256k1.sign(hash, key, { prehash: false, format: 'recovered' });
  return { odd, r: Uint8Array.from(both.slice(0, 32)), s: Uint8Array.from(both.slice(32)) };
}

// --- RLP, as far as a signature needs it ------------------------------------

function bytesOf(value: bigint): Bytes {
  const digits = value === 0n ? '' : value.toString(16);
  return fromHex(digits.length % 2 ? '0' + digits : digits)!;
}

function head(length: number, short: number): Bytes {
  if (length <= 55) return Uint8Array.of(short + length);
  const size = bytesOf(BigInt(length));
  return concat(Uint8Array.of(short + 55 + size.length), size);
}

const number = (value: bigint): Bytes => {
  const bytes = bytesOf(value);
  return bytes.length === 1 && bytes[0] < 0x80 ? bytes : concat(head(bytes.length, 0x80), bytes);
};

const numberOf = (bytes: Uint8Array): bigint => BigInt('0x' + (hex(bytes) || '0'));

// payloadOf is what is in a list, without its head.
function payloadOf(list: Uint8Array): Uint8Array {
  return list.slice(list[0] <= 0xf7 ? 1 : 1 + list[0] - 0xf7);
}

const listOf = (payload: Uint8Array): Bytes => concat(head(payload.length, 0xc0), payload);

// members says how many members an unsigned transaction of each type has.
const members: Record<number, number> = { 1: 8, 2: 9, 3: 11, 4: 10 };

function ethereumTransaction(key: Bytes, text: string): string {
  const unsigned = fromHex(text);
  if (!unsigned?.length) throw new Refused('an Ethereum transaction must be hex digits');
  const typed = unsigned[0] < 0xc0;
  const list = typed ? unsigned.slice(1) : unsigned;
  let items;
  try {
    items = decodeList(list);
  } catch {
    throw new Refused('this is not a serialized Ethereum transaction');
  }
  if (typed ? items.length !== members[unsigned[0]] : items.length !== 6 && items.length !== 9) {
    throw new Refused('this Ethereum transaction is of an unknown type, or signed already');
  }
  const { odd, r, s } = ecdsa(key, keccak256(unsigned));
  const end = concat(number(numberOf(r)), number(numberOf(s)));
  if (typed) return '0x' + hex(concat(unsigned.slice(0, 1), listOf(concat(payloadOf(list), number(BigInt(odd)), end))));
  if (items.length === 6) return '0x' + hex(listOf(concat(payloadOf(list), number(27n + BigInt(odd)), end)));
  // EIP-155: the last three members are the chain and two empty ones.
  const [chain, zeroR, zeroS] = items.slice(6) as Uint8Array[];
  if (zeroR.length !== 0 || zeroS.length !== 0) throw new Refused('this Ethereum transaction is signed already');
  const v = numberOf(chain) * 2n + 35n + BigInt(odd);
  const rest = payloadOf(list).slice(0, -(number(numberOf(chain)).length + 2));
  return '0x' + hex(listOf(concat(rest, number(v), end)));
}

// --- Solana -----------------------------------------------------------------

// compact reads a number of the compact form: seven bits a byte.
function compact(bytes: Uint8Array, at: number): [value: number, end: number] {
  let value = 0;
  for (let i = 0; i < 3; i++) {
    const b = bytes[at + i];
    if (b === undefined) break;
    value |= (b & 0x7f) << (7 * i);
    if (b < 0x80) return [value, at + i + 1];
  }
  throw new Refused('this is not a serialized Solana transaction');
}

function solanaTransaction(key: Bytes, text: string): string {
  const transaction = fromHex(text);
  if (!transaction?.length) throw new Refused('a Solana transaction must be hex digits');
  const [signatures, start] = compact(transaction, 0);
  const at = start + 64 * signatures;
  const message = transaction.slice(at);
  // A version before the header has its highest bit set.
  const header = message[0] & 0x80 ? 1 : 0;
  const [accounts, first] = compact(message, header + 3);
  const needed = message[header];
  if (needed !== signatures || needed > accounts || first + 32 * accounts > message.length) throw new Refused('this is not a serialized Solana transaction');
  const own = hex(ed25519.getPublicKey(key));
  for (let i = 0; i < needed; i++) {
    if (hex(message.slice(first + 32 * i, first + 32 * (i + 1))) !== own) continue;
    transaction.set(ed25519.sign(message, key), start + 64 * i);
    return hex(transaction);
  }
  throw new Refused('the key of this frame is none of the signers of this Solana transaction');
}

export const chains: Record<string, Chain> = {
  ETHEREUM: {
    message: (key, message) => {
      const body = utf8(message);
      const { odd, r, s } = ecdsa(key, keccak256(concat(utf8(`\x19Ethereum Signed Message:\n${body.length}`), body)));
      return '0x' + hex(concat(r, s, Uint8Array.of(27 + odd)));
    },
    transaction: ethereumTransaction,
  },
  SOLANA: {
    message: (key, message) => hex(ed25519.sign(utf8(message), key)),
    transaction: solanaTransaction,
  },
};
