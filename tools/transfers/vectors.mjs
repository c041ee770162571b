// What the parts of the generator share.

// A generator of numbers that is the same in every run (mulberry32).
let state = 20261116;
export function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return (t ^ (t >>> 14)) >>> 0;
}
export const bytes = (n) => Uint8Array.from({ length: n }, () => random() & 255);
export const hex = (raw) => Buffer.from(raw).toString('hex');

// An amount of at most so many bits, small ones being as likely as large ones.
export function amount(bits) {
  const size = 1 + (random() % bits);
  return BigInt(`0x${hex(bytes(Math.ceil(size / 8)))}`) % 2n ** BigInt(size);
}

export const untold = 'untold';

// total adds amounts up by asset. moved has pairs of asset and amount.
export function total(moved) {
  const sums = {};
  for (const [asset, value] of moved) sums[asset] = (sums[asset] ?? 0n) + BigInt(value);
  return Object.fromEntries(Object.entries(sums).map(([asset, sum]) => [asset, String(sum)]));
}
