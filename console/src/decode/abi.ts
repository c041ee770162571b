// Calls of contracts, decoded by their interface.
import { fromUtf8, hex, toNumber, utf8 } from '../client/bytes';
import { Unreadable } from './decoded';
import { checksummed, keccak256 } from './keccak';

export interface Parameter {
  name: string;
  type: string;
  components?: Parameter[];
}

export interface Method {
  name: string;
  inputs: Parameter[];
}

export type Value = string | bigint | boolean | Value[];

const typeOf = (p: Parameter): string =>
  p.type.startsWith('tuple') ? `(${(p.components ?? []).map(typeOf).join(',')})${p.type.slice(5)}` : p.type;

export const signature = (m: Method): string => `${m.name}(${m.inputs.map(typeOf).join(',')})`;
export const selector = (m: Method): string => hex(keccak256(utf8(signature(m))).slice(0, 4));

// parseInterface reads the functions of a JSON ABI.
export function parseInterface(text: string): Method[] {
  try {
    const entries = JSON.parse(text) as unknown;
    const list = Array.isArray(entries) ? entries : ((entries as { abi?: unknown[] }).abi ?? []);
    return (list as Array<Method & { type: string }>).filter((e) => e.type === 'function' && Array.isArray(e.inputs));
  } catch {
    return [];
  }
}

function arrayOf(p: Parameter): { element: Parameter; size: number | undefined } | undefined {
  const m = /^(.*)\[(\d*)\]$/.exec(p.type);
  return m ? { element: { ...p, type: m[1] }, size: m[2] ? Number(m[2]) : undefined } : undefined;
}

function dynamic(p: Parameter): boolean {
  const array = arrayOf(p);
  if (array) return array.size === undefined || dynamic(array.element);
  if (p.type === 'tuple') return (p.components ?? []).some(dynamic);
  return p.type === 'bytes' || p.type === 'string';
}

function headSize(p: Parameter): number {
  if (dynamic(p)) return 32;
  const array = arrayOf(p);
  if (array) return (array.size ?? 0) * headSize(array.element);
  if (p.type === 'tuple') return (p.components ?? []).reduce((n, c) => n + headSize(c), 0);
  return 32;
}

const most = 2000; // values of one call; more would only fill the screen

class Reader {
  private count = 0;
  constructor(private readonly data: Uint8Array) {}

  private word(at: number): Uint8Array {
    if (at + 32 > this.data.length) throw new Unreadable('the data ends too early');
    return this.data.slice(at, at + 32);
  }

  private offset(at: number): number {
    const v = toNumber(this.word(at));
    if (v > BigInt(this.data.length)) throw new Unreadable('a length is larger than the data');
    return Number(v);
  }

  tuple(parameters: Parameter[], base: number): Value[] {
    let at = base;
    return parameters.map((p) => {
      const place = dynamic(p) ? base + this.offset(at) : at;
      at += headSize(p);
      return this.value(p, place);
    });
  }

  private value(p: Parameter, at: number): Value {
    if (++this.count > most) throw new Unreadable('it has too many values to show');
    const array = arrayOf(p);
    if (array) {
      const size = array.size ?? this.offset(at);
      if (size > most) throw new Unreadable('it has too many values to show');
      return this.tuple(new Array<Parameter>(size).fill(array.element), array.size === undefined ? at + 32 : at);
    }
    if (p.type === 'tuple') return this.tuple(p.components ?? [], at);
    if (p.type === 'bytes' || p.type === 'string') {
      const size = this.offset(at);
      if (at + 32 + size > this.data.length) throw new Unreadable('the data ends too early');
      const bytes = this.data.slice(at + 32, at + 32 + size);
      return p.type === 'string' ? fromUtf8(bytes) : '0x' + hex(bytes);
    }
    return elementary(p.type, this.word(at));
  }
}

function elementary(type: string, word: Uint8Array): Value {
  if (type === 'address') return checksummed(word.slice(12));
  if (type === 'bool') return toNumber(word) !== 0n;
  if (type.startsWith('bytes')) return '0x' + hex(word.slice(0, Number(type.slice(5))));
  const v = toNumber(word);
  return type.startsWith('int') && v >> 255n ? v - (1n << 256n) : v;
}

// decodeCall reads the parameters of a call; the selector is not looked at.
export const decodeCall = (m: Method, data: Uint8Array): Value[] => new Reader(data.subarray(4)).tuple(m.inputs, 0);
