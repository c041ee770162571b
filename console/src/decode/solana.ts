// Transactions of Solana: legacy and version 0.
import { fromHex, hex } from '../client/bytes';
import { t } from '../text';
import { base58 } from './base58';
import { type Decoded, group, type Known, units, Unreadable } from './decoded';

const system = '11111111111111111111111111111111';
const computeBudget = 'ComputeBudget111111111111111111111111111111';
const associated = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const memo = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const tokens = ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'];

class Cursor {
  at = 0;
  constructor(readonly data: Uint8Array) {}
  take(n: number): Uint8Array {
    if (this.at + n > this.data.length) throw new Unreadable('it ends too early');
    this.at += n;
    return this.data.slice(this.at - n, this.at);
  }
  byte = (): number => this.take(1)[0];
  size(): number {
    let value = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      const b = this.byte();
      value |= (b & 0x7f) << shift;
      if (b < 0x80) return value;
    }
    throw new Unreadable('a length is none');
  }
}

interface Instruction {
  program: string;
  accounts: string[];
  data: Uint8Array;
}

const little = (b: Uint8Array): bigint => [...b].reverse().reduce((n, v) => (n << 8n) | BigInt(v), 0n);

function read(raw: Uint8Array): { payer: string; instructions: Instruction[]; lookups: boolean } {
  const c = new Cursor(raw);
  c.take(64 * c.size());
  const versioned = (c.data[c.at] & 0x80) !== 0;
  if (versioned && (c.byte() & 0x7f) !== 0) throw new Unreadable('its version is not known');
  c.take(3);
  const keys = Array.from({ length: c.size() }, () => base58(c.take(32)));
  c.take(32);
  const name = (i: number) => keys[i] ?? t.decode.fromTable(i);
  const instructions = Array.from({ length: c.size() }, () => {
    const program = name(c.byte());
    const accounts = Array.from(c.take(c.size()), name);
    return { program, accounts, data: c.take(c.size()) };
  });
  const lookups = versioned && c.size() > 0;
  if (!lookups && c.at !== raw.length) throw new Unreadable('there is more after its end');
  return { payer: keys[0], instructions, lookups };
}

function describe(d: Decoded, i: Instruction, n: number, known: Known): void {
  const step = t.decode.instruction(n);
  const word = (from: number) => little(i.data.slice(from, from + 8));
  const send = (to: string, amount: string, further: string) => {
    d.recipients.push(to);
    d.facts.push({ label: step, value: further });
    d.facts.push({ label: t.decode.to, value: to, kind: 'address' });
    if (!d.amount) [d.action, d.amount, d.to] = [t.decode.send, amount, to];
    else [d.action, d.amount, d.to] = [t.decode.several, undefined, undefined];
  };
  if (i.program === system && little(i.data.slice(0, 4)) === 2n) {
    const amount = `${units(word(4), 9)} SOL`;
    return send(i.accounts[1], amount, t.decode.sends(amount));
  }
  if (tokens.includes(i.program)) {
    const [op] = i.data;
    if (op === 3) return send(i.accounts[1], t.decode.rawUnits(group(String(word(1)))), t.decode.sendsToken);
    if (op === 12) {
      // The decimals are in the bytes, and the chain compares them with the mint's.
      d.token = i.accounts[1];
      const symbol = known.contracts.find((c) => c.address === d.token)?.symbol;
      const amount = units(word(1), i.data[9]);
      return send(i.accounts[2], symbol ? `${amount} ${symbol}` : t.decode.tokens(amount), t.decode.sendsToken);
    }
    if (op === 4 || op === 13) d.warnings.push({ level: word(1) >= 1n << 63n ? 'danger' : 'caution', text: word(1) >= 1n << 63n ? t.decode.unlimitedApproval : t.decode.permit });
    if (op === 6) d.warnings.push({ level: 'danger', text: t.decode.newOwner });
  }
  if (i.program === computeBudget) return;
  if (![system, associated, memo, ...tokens].includes(i.program)) d.warnings.push({ level: 'caution', text: t.decode.unknownProgram(i.program) });
  d.facts.push({ label: step, value: i.program, kind: 'address' }, { label: t.decode.data, value: '0x' + hex(i.data), kind: 'code' });
}

export function decodeTransaction(text: string, known: Known): Decoded {
  const raw = fromHex(text);
  if (!raw) throw new Unreadable('it is not hex');
  const { payer, instructions, lookups } = read(raw);
  const d: Decoded = { network: 'Solana', action: t.decode.instructions(instructions.length), recipients: [], facts: [], warnings: [] };
  instructions.forEach((i, n) => describe(d, i, n + 1, known));
  if (lookups) d.warnings.push({ level: 'danger', text: t.decode.lookups });
  d.facts.push({ label: t.decode.payer, value: payer, kind: 'address' });
  return d;
}
