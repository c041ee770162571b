// Transactions of Tron: the protobuf of their raw data.
import { concat, fromHex, fromUtf8, hex } from '../client/bytes';
import { t } from '../text';
import { base58check } from './base58';
import { decodeCall, signature } from './abi';
import { type Decoded, type Known, tokenAmount, units, Unreadable } from './decoded';

type Message = Map<number, Array<bigint | Uint8Array>>;

function read(data: Uint8Array): Message {
  const fields: Message = new Map();
  let at = 0;
  const number = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (at >= data.length) throw new Unreadable('it ends too early');
      const b = data[at++];
      value |= BigInt(b & 0x7f) << shift;
      if (b < 0x80) return value;
    }
    throw new Unreadable('a number is none');
  };
  while (at < data.length) {
    const key = number();
    const field = Number(key >> 3n);
    let value: bigint | Uint8Array;
    if ((key & 7n) === 0n) value = number();
    else if ((key & 7n) === 2n) {
      const size = Number(number());
      if (at + size > data.length) throw new Unreadable('it ends too early');
      value = data.slice(at, (at += size));
    } else throw new Unreadable('a field has another form');
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

const bytes = (m: Message, field: number): Uint8Array => {
  const v = m.get(field)?.[0];
  return v instanceof Uint8Array ? v : new Uint8Array();
};
const number = (m: Message, field: number): bigint => {
  const v = m.get(field)?.[0];
  return typeof v === 'bigint' ? v : 0n;
};
const sun = (v: bigint) => `${units(v, 6)} TRX`;

const transfer = { name: 'transfer', inputs: [{ name: 'to', type: 'address' }, { name: 'amount', type: 'uint256' }] };
const approve = { name: 'approve', inputs: [{ name: 'spender', type: 'address' }, { name: 'amount', type: 'uint256' }] };

async function call(d: Decoded, value: Message, known: Known): Promise<void> {
  const contract = await base58check(bytes(value, 2));
  const described = known.contracts.find((c) => c.address === contract);
  const data = bytes(value, 4);
  const code = hex(data.slice(0, 4));
  const found = code === 'a9059cbb' ? transfer : code === '095ea7b3' ? approve : undefined;
  d.to = contract;
  d.facts.push({ label: t.decode.contract, value: contract, kind: 'address' });
  if (!found) {
    d.action = t.decode.unknownCall;
    d.recipients.push(contract);
    d.warnings.push({ level: 'danger', text: t.decode.unreadableCall });
    d.facts.push({ label: t.decode.data, value: '0x' + hex(data), kind: 'code' });
    return;
  }
  const amount = decodeCall(found, data)[1] as bigint;
  d.to = await base58check(concat(Uint8Array.of(0x41), data.slice(16, 36)));
  d.token = contract;
  d.recipients.push(d.to);
  d.action = found === transfer ? t.decode.send : t.decode.allow;
  d.amount = tokenAmount(amount, described, known.decimals.get(`trc20:${contract}`));
  d.facts.push({ label: t.decode.method, value: signature(found), kind: 'code' });
  if (found === approve && amount >= 1n << 255n) {
    d.amount = t.decode.unlimited;
    d.warnings.push({ level: 'danger', text: t.decode.unlimitedApproval });
  }
}

export async function decodeTransaction(text: string, known: Known): Promise<Decoded> {
  const raw = fromHex(text);
  if (!raw || raw.length === 0) throw new Unreadable('it is not hex');
  const tx = read(raw);
  const d: Decoded = { network: 'Tron', action: t.decode.send, recipients: [], facts: [], warnings: [] };
  const list = tx.get(11) ?? [];
  if (list.length !== 1 || !(list[0] instanceof Uint8Array)) throw new Unreadable('it holds not one contract');
  const contract = read(list[0]);
  const parameter = read(bytes(contract, 2));
  const value = read(bytes(parameter, 2));
  const kind = Number(number(contract, 1));
  if (kind === 1) {
    d.to = await base58check(bytes(value, 2));
    d.amount = sun(number(value, 3));
    d.recipients.push(d.to);
  } else if (kind === 31) {
    await call(d, value, known);
    if (number(value, 3) > 0n) d.amount = [d.amount, sun(number(value, 3))].filter(Boolean).join(' + ');
  } else {
    d.action = t.decode.contractKind(fromUtf8(bytes(parameter, 1)).split('.').pop() ?? String(kind));
    d.warnings.push({ level: 'danger', text: t.decode.unreadableCall });
    d.facts.push({ label: t.decode.data, value: '0x' + hex(bytes(parameter, 2)), kind: 'code' });
  }
  d.facts.push({ label: t.decode.from, value: await base58check(bytes(value, 1)), kind: 'address' });
  if (number(tx, 18) > 0n) d.facts.push({ label: t.decode.highestFee, value: sun((d.fee = number(tx, 18))) });
  return d;
}
