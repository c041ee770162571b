// Transactions and typed data of Ethereum and chains like it.
import { fromHex, hex, toNumber } from '../client/bytes';
import { t } from '../text';
import { decodeCall, type Method, parseInterface, selector, signature, type Value } from './abi';
import { type Contract, type Decoded, type Fact, group, type Known, tokenAmount, units, Unreadable, type Warning } from './decoded';
import { checksummed } from './keccak';
import { decodeList, type Item } from './rlp';

// Chains whose coin is known; of others, amounts are in the smallest unit.
const chains: Record<string, [name: string, coin: string]> = {
  '1': ['Ethereum', 'ETH'],
  '10': ['OP Mainnet', 'ETH'],
  '56': ['BNB Smart Chain', 'BNB'],
  '100': ['Gnosis', 'xDAI'],
  '137': ['Polygon', 'POL'],
  '324': ['ZKsync Era', 'ETH'],
  '8453': ['Base', 'ETH'],
  '42161': ['Arbitrum One', 'ETH'],
  '43114': ['Avalanche C-Chain', 'AVAX'],
  '59144': ['Linea', 'ETH'],
  '11155111': ['Sepolia', 'Sepolia ETH'],
  '17000': ['Holesky', 'Holesky ETH'],
  '84532': ['Base Sepolia', 'Sepolia ETH'],
};

const chainName = (id: bigint) => chains[String(id)]?.[0] ?? t.decode.chain(String(id));
const coins = (id: bigint, wei: bigint) => {
  const known = chains[String(id)];
  return known ? `${units(wei, 18)} ${known[1]}` : `${group(String(wei))} wei`;
};

const method = (text: string): Method => {
  const [, name, list] = /^(\w+)\((.*)\)$/.exec(text)!;
  return { name, inputs: list.split(',').map((p) => ({ type: p.split(' ')[0], name: p.split(' ')[1] })) };
};

// Functions whose meaning a standard fixes.
const standard = new Map(
  [
    'transfer(address to,uint256 amount)',
    'approve(address spender,uint256 amount)',
    'transferFrom(address from,address to,uint256 amount)',
    'increaseAllowance(address spender,uint256 addedValue)',
    'setApprovalForAll(address operator,bool approved)',
    'safeTransferFrom(address from,address to,uint256 tokenId)',
    'permit(address owner,address spender,uint256 value,uint256 deadline,uint8 v,bytes32 r,bytes32 s)',
    'execTransaction(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,bytes signatures)',
  ].map((text) => [selector(method(text)), method(text)]),
);

interface Fields {
  kind: string;
  chainId: bigint;
  nonce: bigint;
  gas: bigint;
  price: bigint; // the most that is paid for a unit of gas
  to: Uint8Array;
  value: bigint;
  data: Uint8Array;
  authorizations: Item[];
}

const number = (i: Item | undefined): bigint => {
  if (!(i instanceof Uint8Array) || i.length > 32) throw new Unreadable('a number is none');
  return toNumber(i);
};
const bytes = (i: Item | undefined): Uint8Array => {
  if (!(i instanceof Uint8Array)) throw new Unreadable('a text is a list');
  return i;
};

function fields(raw: Uint8Array): Fields {
  const type = raw[0] < 0x80 ? raw[0] : 0;
  const list = decodeList(type ? raw.subarray(1) : raw);
  if (type === 0) {
    if (list.length !== 6 && list.length !== 9) throw new Unreadable('it has another number of fields');
    const [nonce, price, gas, to, value, data, chain] = list;
    return { kind: 'legacy', chainId: chain ? number(chain) : 0n, nonce: number(nonce), gas: number(gas), price: number(price), to: bytes(to), value: number(value), data: bytes(data), authorizations: [] };
  }
  if (type === 1) {
    const [chain, nonce, price, gas, to, value, data] = list;
    return { kind: 'EIP-2930', chainId: number(chain), nonce: number(nonce), gas: number(gas), price: number(price), to: bytes(to), value: number(value), data: bytes(data), authorizations: [] };
  }
  if (type > 4) throw new Unreadable(`its type is ${type}`);
  const [chain, nonce, , price, gas, to, value, data, , further] = list;
  return {
    kind: ['EIP-1559', 'EIP-4844', 'EIP-7702'][type - 2],
    chainId: number(chain), nonce: number(nonce), gas: number(gas), price: number(price), to: bytes(to), value: number(value), data: bytes(data),
    authorizations: type === 4 && Array.isArray(further) ? further : [],
  };
}

const unlimited = (v: Value) => typeof v === 'bigint' && v >= 1n << 255n;

export const show = (v: Value): string => {
  if (Array.isArray(v)) return `[${v.map(show).join(', ')}]`;
  return typeof v === 'bigint' ? group(v.toString()) : String(v);
};

// Token is what is known of the contract that is called.
interface Token {
  contract: Contract | undefined;
  decimals: number | undefined;
}

const tokenAt = (chainId: bigint | undefined, address: string, known: Known): Token => ({
  contract: known.contracts.find((c) => c.address.toLowerCase() === address.toLowerCase()),
  decimals: known.decimals.get(`eip155:${chainId}/erc20:${address.toLowerCase()}`),
});

const amountOf = (v: Value, { contract, decimals }: Token): string => (typeof v === 'bigint' ? tokenAmount(v, contract, decimals) : show(v));

interface Call {
  method: Method;
  values: Value[];
  standard: boolean;
}

function readCall(data: Uint8Array, contract: Contract | undefined): Call | undefined {
  const wanted = hex(data.slice(0, 4));
  const own = contract && parseInterface(contract.interface).find((m) => selector(m) === wanted);
  const found = own ?? standard.get(wanted);
  if (!found) return undefined;
  try {
    return { method: found, values: decodeCall(found, data), standard: standard.has(wanted) };
  } catch {
    return undefined;
  }
}

// describeCall adds what a call of a contract means.
function describeCall(d: Decoded, f: Fields, call: Call | undefined, token: Token): void {
  const to = checksummed(f.to);
  if (!token.contract) d.warnings.push({ level: 'caution', text: t.decode.noInterface });
  if (!call) {
    d.action = t.decode.unknownCall;
    d.to = to;
    d.recipients.push(to);
    d.warnings.push({ level: 'danger', text: t.decode.unreadableCall });
    d.facts.push({ label: t.decode.data, value: '0x' + hex(f.data), kind: 'code' });
    return;
  }
  const { method: m, values } = call;
  d.action = t.decode.call(m.name);
  d.to = to;
  d.facts.push({ label: t.decode.method, value: signature(m), kind: 'code' });
  m.inputs.forEach((p, i) => d.facts.push({ label: p.name || `#${i}`, value: show(values[i]), kind: p.type === 'address' ? 'address' : undefined }));
  if (!call.standard) {
    d.recipients.push(to);
    return;
  }
  meaning(d, m.name, values, token);
}

function meaning(d: Decoded, name: string, values: Value[], token: Token): void {
  const [a, b, c, operation] = values;
  switch (name) {
    case 'transfer':
      return send(d, a, amountOf(b, token));
    case 'transferFrom':
      return send(d, b, amountOf(c, token));
    case 'safeTransferFrom':
      return send(d, b, t.decode.token(show(c)));
    case 'approve':
    case 'increaseAllowance':
      return allow(d, a, b, token);
    case 'permit':
      return allow(d, b, c, token);
    case 'setApprovalForAll':
      d.recipients.push(String(a));
      if (b) d.warnings.push({ level: 'danger', text: t.decode.allTokens });
      return;
    case 'execTransaction':
      d.recipients.push(String(a));
      if (operation === 1n) d.warnings.push({ level: 'danger', text: t.decode.delegateCall });
  }
}

function send(d: Decoded, to: Value, amount: string): void {
  d.action = t.decode.send;
  d.amount = amount;
  d.to = String(to);
  d.recipients.push(d.to);
}

function allow(d: Decoded, spender: Value, amount: Value, token: Token): void {
  d.action = t.decode.allow;
  d.amount = unlimited(amount) ? t.decode.unlimited : amountOf(amount, token);
  d.to = String(spender);
  d.recipients.push(d.to);
  if (unlimited(amount)) d.warnings.push({ level: 'danger', text: t.decode.unlimitedApproval });
}

export function decodeTransaction(text: string, known: Known): Decoded {
  const raw = fromHex(text);
  if (!raw || raw.length === 0) throw new Unreadable('it is not hex');
  const f = fields(raw);
  const d: Decoded = { network: chainName(f.chainId), action: t.decode.send, recipients: [], facts: [], warnings: [] };
  const creates = f.to.length === 0;
  if (!creates && f.to.length !== 20) throw new Unreadable('the recipient is not an address');
  const to = creates ? '' : checksummed(f.to);
  const token = tokenAt(f.chainId, to, known);
  if (f.value > 0n || f.data.length === 0) {
    d.amount = coins(f.chainId, f.value);
    d.to = to;
    if (!creates) d.recipients.push(to);
  }
  if (creates) {
    d.action = t.decode.deploy;
    d.to = undefined;
    d.warnings.push({ level: 'caution', text: t.decode.deployWarning });
    d.facts.push({ label: t.decode.data, value: '0x' + hex(f.data), kind: 'code' });
  } else if (f.data.length > 0) {
    const coinsToo = f.value > 0n ? d.amount : undefined;
    describeCall(d, f, readCall(f.data, token.contract), token);
    if (coinsToo && d.amount !== coinsToo) d.amount = d.amount ? `${d.amount} + ${coinsToo}` : coinsToo;
    if (d.to !== to) d.token = to;
    d.facts.unshift({ label: t.decode.contract, value: to, kind: 'address' });
  }
  if (f.chainId === 0n) d.warnings.push({ level: 'danger', text: t.decode.noChain });
  for (const a of f.authorizations) {
    const code = Array.isArray(a) ? checksummed(bytes(a[1])) : '';
    d.warnings.push({ level: 'danger', text: t.decode.delegation(code) });
  }
  d.fee = f.gas * f.price;
  d.facts.push(
    { label: t.decode.network, value: `${d.network} (${f.chainId})` },
    { label: t.decode.highestFee, value: coins(f.chainId, d.fee) },
    { label: t.decode.nonce, value: String(f.nonce) },
    { label: t.decode.kind, value: f.kind },
  );
  return d;
}

interface TypedData {
  domain?: Record<string, unknown>;
  primaryType?: string;
  message?: Record<string, unknown>;
}

const flat = (of: unknown, label: string, facts: Fact[]): void => {
  if (of !== null && typeof of === 'object') {
    for (const [name, value] of Object.entries(of)) flat(value, label ? `${label}.${name}` : name, facts);
    return;
  }
  const value = String(of);
  facts.push({ label, value, kind: /^0x[0-9a-fA-F]{40}$/.test(value) ? 'address' : undefined });
};

const whole = (v: unknown): bigint | undefined => (/^(\d+|0x[0-9a-f]+)$/i.test(String(v)) ? BigInt(String(v)) : undefined);
const addressIn = (v: unknown): string | undefined => (typeof v === 'string' && /^0x[0-9a-fA-F]{40}$/.test(v) ? v : undefined);

// Messages that move tokens of the contract that verifies them (EIP-2612, EIP-3009).
const moves: Record<string, 'allow' | 'send'> = { Permit: 'allow', TransferWithAuthorization: 'send', ReceiveWithAuthorization: 'send' };

export function decodeTypedData(text: string, known: Known): Decoded {
  let data: TypedData;
  try {
    data = JSON.parse(text) as TypedData;
  } catch {
    throw new Unreadable('it is not JSON');
  }
  const facts: Fact[] = [];
  const warnings: Warning[] = [];
  flat(data.message, '', facts);
  flat(data.domain, t.decode.domain, facts);
  const message = data.message ?? {};
  const type = data.primaryType ?? '?';
  const chain = whole(data.domain?.chainId);
  const permit = /permit/i.test(type);
  const large = facts.some((f) => /^\d+$/.test(f.value) && BigInt(f.value) >= 1n << 159n && /value|amount/i.test(f.label));
  if (permit) warnings.push({ level: large ? 'danger' : 'caution', text: large ? t.decode.unlimitedApproval : t.decode.permit });
  const token = addressIn(data.domain?.verifyingContract);
  const value = whole(message.value);
  const moved = moves[type] && token && value !== undefined ? amountOf(value, tokenAt(chain, token, known)) : undefined;
  const to = addressIn(moves[type] === 'send' ? message.to : message.spender);
  return {
    network: chain === undefined ? 'Ethereum' : chainName(chain),
    action: permit ? t.decode.allow : moves[type] === 'send' ? t.decode.send : t.decode.typedData(type),
    amount: permit && large ? t.decode.unlimited : moved,
    to,
    token: moved && token,
    recipients: to ? [to] : [],
    facts,
    warnings,
  };
}
