// Transactions of Bitcoin, as PSBT version 0.
import { concat, fromHex, hex } from '../client/bytes';
import { t } from '../text';
import { base58check, segwit } from './base58';
import { type Decoded, units, Unreadable } from './decoded';

class Cursor {
  at = 0;
  constructor(readonly data: Uint8Array) {}
  take(n: number): Uint8Array {
    if (n < 0 || this.at + n > this.data.length) throw new Unreadable('it ends too early');
    this.at += n;
    return this.data.slice(this.at - n, this.at);
  }
  little = (n: number): number => [...this.take(n)].reverse().reduce((v, b) => v * 256 + b, 0);
  size(): number {
    const first = this.take(1)[0];
    return first < 0xfd ? first : this.little(first === 0xfd ? 2 : first === 0xfe ? 4 : 8);
  }
  sized = (): Uint8Array => this.take(this.size());
}

interface Output {
  value: bigint;
  script: Uint8Array;
}

interface Transaction {
  inputs: Array<{ id: string; index: number }>;
  outputs: Output[];
}

const output = (c: Cursor): Output => ({ value: BigInt(c.little(8)), script: c.sized() });

function transaction(data: Uint8Array): Transaction {
  const c = new Cursor(data);
  c.take(4);
  if (data[4] === 0 && data[5] === 1) c.take(2); // with witnesses
  const inputs = Array.from({ length: c.size() }, () => {
    const id = hex(c.take(32).reverse());
    const index = c.little(4);
    c.sized();
    c.take(4);
    return { id, index };
  });
  return { inputs, outputs: Array.from({ length: c.size() }, () => output(c)) };
}

// map reads pairs up to the empty key.
function map(c: Cursor): Map<string, Uint8Array> {
  const pairs = new Map<string, Uint8Array>();
  for (let key = c.sized(); key.length > 0; key = c.sized()) pairs.set(hex(key), c.sized());
  return pairs;
}

// The network is not in the bytes, only in the address that signs.
function network(signer: string): { name: string; segwit: string; hash: number; script: number } {
  const m = /^(bc|tb|bcrt)1/.exec(signer);
  if (m ? m[1] === 'bc' : /^[13]/.test(signer)) return { name: 'Bitcoin', segwit: 'bc', hash: 0, script: 5 };
  return { name: m?.[1] === 'bcrt' ? 'Bitcoin regtest' : 'Bitcoin testnet', segwit: m?.[1] ?? 'tb', hash: 0x6f, script: 0xc4 };
}

async function address(script: Uint8Array, net: ReturnType<typeof network>): Promise<string | undefined> {
  const text = hex(script);
  if (/^76a914.{40}88ac$/.test(text)) return base58check(concat(Uint8Array.of(net.hash), script.slice(3, 23)));
  if (/^a914.{40}87$/.test(text)) return base58check(concat(Uint8Array.of(net.script), script.slice(2, 22)));
  const version = script[0] === 0 ? 0 : script[0] - 0x50;
  if (version >= 0 && version <= 16 && script[1] === script.length - 2 && script.length >= 4) return segwit(net.segwit, version, script.slice(2));
  return undefined;
}

const amount = (v: bigint) => `${units(v, 8)} BTC`;

export async function decodeTransaction(text: string, signer: string, own: (address: string) => boolean): Promise<Decoded> {
  const raw = fromHex(text);
  if (!raw || hex(raw.slice(0, 5)) !== '70736274ff') throw new Unreadable('it is not a PSBT');
  const c = new Cursor(raw);
  c.take(5);
  const unsigned = map(c).get('00');
  if (!unsigned) throw new Unreadable('it holds no transaction');
  const tx = transaction(unsigned);
  const net = network(signer);
  const d: Decoded = { network: net.name, action: t.decode.send, recipients: [], facts: [], warnings: [] };
  let spent: bigint | undefined = 0n;
  for (const input of tx.inputs) {
    const pairs = map(c);
    const whole = pairs.get('00');
    const witness = pairs.get('01');
    const from = whole ? transaction(whole).outputs[input.index] : witness && output(new Cursor(witness));
    spent = from && spent !== undefined ? spent + from.value : undefined;
    d.facts.push({ label: t.decode.input, value: `${from ? amount(from.value) : t.decode.unknownAmount} · ${input.id}:${input.index}` });
  }
  let sent = 0n;
  let out = 0n;
  for (const o of tx.outputs) {
    const to = await address(o.script, net);
    const change = to !== undefined && (to === signer || own(to));
    out += o.value;
    d.facts.push({ label: change ? t.decode.change : t.decode.output, value: amount(o.value) });
    if (to) d.facts.push({ label: t.decode.to, value: to, kind: 'address' });
    else d.facts.push({ label: t.decode.script, value: hex(o.script), kind: 'code' });
    if (change) continue;
    sent += o.value;
    if (to) d.recipients.push(to);
    else if (o.value > 0n) d.warnings.push({ level: 'danger', text: t.decode.unknownScript });
  }
  d.amount = amount(sent);
  if (d.recipients.length === 1) d.to = d.recipients[0];
  if (spent === undefined) d.warnings.push({ level: 'danger', text: t.decode.feeUnknown });
  else {
    d.fee = spent - out;
    d.facts.push({ label: t.decode.fee, value: amount(d.fee) });
    if (d.fee < 0n) d.warnings.push({ level: 'danger', text: t.decode.feeNegative });
    else if (d.fee * 10n > spent && spent > 0n) d.warnings.push({ level: 'danger', text: t.decode.feeTenth });
  }
  return d;
}
