// Recursive length prefixes, as Ethereum's transactions have them.
import { toNumber } from '../client/bytes';
import { Unreadable } from './decoded';

export type Item = Uint8Array | Item[];

function next(data: Uint8Array, at: number): [item: Item, end: number] {
  const first = data[at];
  if (first === undefined) throw new Unreadable('it ends too early');
  if (first < 0x80) return [data.slice(at, at + 1), at + 1];
  const list = first >= 0xc0;
  const short = first - (list ? 0xc0 : 0x80);
  let start = at + 1;
  let size = short;
  if (short > 55) {
    start += short - 55;
    size = Number(toNumber(data.slice(at + 1, start)));
  }
  const end = start + size;
  if (end > data.length) throw new Unreadable('it ends too early');
  if (!list) return [data.slice(start, end), end];
  const items: Item[] = [];
  while (start < end) {
    const [item, after] = next(data.subarray(0, end), start);
    items.push(item);
    start = after;
  }
  return [items, end];
}

// decodeList reads exactly one list.
export function decodeList(data: Uint8Array): Item[] {
  const [item, end] = next(data, 0);
  if (end !== data.length || !Array.isArray(item)) throw new Unreadable('it is not one list');
  return item;
}
