// EVM transactions and typed data, made and read by viem.
import {
  concat, decodeFunctionData, encodeFunctionData, getAddress, getTypesForEIP712Domain, hashTypedData, pad, parseAbi, parseTransaction,
  serializeTransaction, serializeTypedData, slice, toHex,
} from 'viem';

import { amount, bytes, total, untold } from './vectors.mjs';

const address = () => getAddress(toHex(bytes(20)));
const word = () => toHex(bytes(32));
const native = (chain) => `eip155:${chain}/slip44:60`;
const token = (chain, contract) => `eip155:${chain}/erc20:${contract}`;

// The functions that move or allow tokens. The amount is the argument of that name.
const known = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function transferFrom(address from, address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function increaseAllowance(address spender, uint256 amount)',
  'function permit(address owner, address spender, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 amount, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 amount, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function receiveWithAuthorization(address from, address to, uint256 amount, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function receiveWithAuthorization(address from, address to, uint256 amount, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);
// Calls that move tokens in ways that are not read.
const unknown = parseAbi([
  'function permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, uint8 v, bytes32 r, bytes32 s)',
  'function approve(address token, address spender, uint160 amount, uint48 expiration)',
  'function multicall(bytes[] data)',
  'function safeTransferFrom(address from, address to, uint256 id)',
  'function burn(uint256 amount)',
]);
const sample = { address, uint256: () => amount(256), uint160: () => amount(160), uint48: () => Number(amount(48)), uint8: () => 27, bytes32: word, bool: () => true, bytes: () => toHex(bytes(65)), 'bytes[]': () => [toHex(bytes(40))] };
const call = (f) => encodeFunctionData({ abi: [f], args: f.inputs.map(({ type }) => sample[type]()) });

const fees = {
  legacy: { gasPrice: 10n },
  eip2930: { gasPrice: 10n, accessList: [] },
  eip1559: { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n },
};
const make = (type, chainId, to, value, data) =>
  serializeTransaction({ type, chainId, nonce: 1, gas: 90_000n, to, value, data, ...fees[type] });

// read is what viem finds in the bytes.
function read(raw) {
  const { chainId, to, value = 0n, data } = parseTransaction(raw);
  const moved = [[native(chainId), value]];
  if (data) {
    const f = known.find((entry) => {
      try {
        return decodeFunctionData({ abi: [entry], data });
      } catch {
        return undefined;
      }
    });
    const { args } = decodeFunctionData({ abi: [f], data });
    moved.push([token(chainId, to.toLowerCase()), args[f.inputs.findIndex(({ name }) => name === 'amount')]]);
  }
  return total(moved);
}

export function transactions() {
  const all = [];
  const add = (name, raw, moves) => all.push({ name, chain: 'evm', payload: raw.slice(2), moves });
  for (const type of Object.keys(fees)) {
    for (const chain of [1, 8453]) {
      const plain = make(type, chain, address(), amount(128));
      add(`${type}: value`, plain, { ...read(plain), [native(10)]: '0', [token(chain, address())]: '0' });
      for (const f of known) {
        const raw = make(type, chain, address(), amount(64), call(f));
        add(`${type}: ${f.name}, ${f.inputs.length} arguments`, raw, { ...read(raw), [token(chain, address())]: '0', [native(10)]: '0' });
      }
      for (const f of unknown) {
        const [to, value] = [address(), amount(64)];
        add(`${type}: ${f.name}, not read`, make(type, chain, to, value, call(f)), {
          [native(chain)]: String(value), [token(chain, to)]: untold, [token(chain, address())]: untold, [token(10, to)]: '0',
        });
      }
      const short = slice(call(known[0]), 0, 67);
      const to = address();
      add(`${type}: a short call`, make(type, chain, to, 0n, short), { [token(chain, to)]: untold, [native(chain)]: '0' });
      add(`${type}: a new contract`, make(type, chain, undefined, 5n, concat(['0x60', word()])), { [token(chain, to)]: untold, [native(chain)]: '5' });
    }
  }
  const everything = encodeFunctionData({ abi: known, functionName: 'approve', args: [address(), 2n ** 256n - 1n] });
  const raw = make('eip1559', 1, address(), 0n, everything);
  add('an allowance of everything', raw, read(raw));
  const nowhere = serializeTransaction({ type: 'legacy', nonce: 0, gas: 21_000n, gasPrice: 1n, to: address(), value: 5n });
  add('no chain', nowhere, { [native(1)]: untold, [token(1, address())]: untold });
  const coded = serializeTransaction({
    type: 'eip7702', chainId: 1, nonce: 1, gas: 90_000n, to: address(), value: 5n, ...fees.eip1559,
    authorizationList: [{ chainId: 1, address: address(), nonce: 0, r: pad('0x1'), s: pad('0x1'), yParity: 0 }],
  });
  add('EIP-7702', coded, { [native(1)]: untold, [token(1, address())]: untold, [native(10)]: '0' });
  return all;
}

const field = (name, type) => ({ name, type });
const authorization = [field('from', 'address'), field('to', 'address'), field('value', 'uint256'), field('validAfter', 'uint256'), field('validBefore', 'uint256'), field('nonce', 'bytes32')];
const details = { PermitDetails: [field('token', 'address'), field('amount', 'uint160'), field('expiration', 'uint48'), field('nonce', 'uint48')] };
const permissions = { TokenPermissions: [field('token', 'address'), field('amount', 'uint256')] };
const tail = [field('spender', 'address'), field('nonce', 'uint256'), field('deadline', 'uint256')];
const witness = [field('witness', 'Order')];
const order = { Order: [field('recipient', 'address'), field('lots', 'uint256[]')] };
const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';

const someDetails = () => ({ token: address(), amount: amount(160), expiration: Number(amount(40)), nonce: Number(amount(40)) });
const somePermission = () => ({ token: address(), amount: amount(256) });
const anOrder = () => ({ recipient: address(), lots: [amount(8), amount(8)] });
const rest = () => ({ spender: address(), nonce: amount(200), deadline: amount(40) });

export function typedData() {
  const all = [];
  const add = (name, { domain, types, primaryType, message }, moves) => {
    const whole = { domain, primaryType, message, types: { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types } };
    all.push({ name, chain: 'typed', payload: serializeTypedData(whole), digest: hashTypedData(whole).slice(2), moves });
  };
  const atToken = (chainId) => ({ name: 'USD Coin', version: '2', chainId, verifyingContract: address() });
  const atPermit2 = (chainId) => ({ name: 'Permit2', chainId, verifyingContract: permit2 });
  const pay = () => ({ from: address(), to: address(), value: amount(256), validAfter: 0n, validBefore: amount(40), nonce: word() });
  const allow = () => ({ owner: address(), spender: address(), value: amount(256), nonce: amount(64), deadline: amount(40) });
  const permit = { Permit: [field('owner', 'address'), field('spender', 'address'), field('value', 'uint256'), field('nonce', 'uint256'), field('deadline', 'uint256')] };
  // What the message says, in the words of the standards.
  const listed = (message) => [message.details ?? message.permitted].flat();

  for (const chain of [1, 137]) {
    for (const primaryType of ['TransferWithAuthorization', 'ReceiveWithAuthorization']) {
      const [domain, message] = [atToken(chain), pay()];
      add(`EIP-3009 ${primaryType}`, { domain, primaryType, types: { [primaryType]: authorization }, message }, {
        [token(chain, domain.verifyingContract)]: String(message.value), [token(chain, address())]: '0', [native(chain)]: '0',
      });
    }
    const [domain, message] = [atToken(chain), allow()];
    add('EIP-2612', { domain, primaryType: 'Permit', types: permit, message }, { [token(chain, domain.verifyingContract)]: String(message.value) });
    for (const [primaryType, types, made] of [
      ['PermitSingle', { PermitSingle: [field('details', 'PermitDetails'), field('spender', 'address'), field('sigDeadline', 'uint256')], ...details }, { details: someDetails(), spender: address(), sigDeadline: 1n }],
      ['PermitBatch', { PermitBatch: [field('details', 'PermitDetails[]'), field('spender', 'address'), field('sigDeadline', 'uint256')], ...details }, { details: [someDetails(), someDetails(), someDetails()], spender: address(), sigDeadline: 1n }],
      ['PermitTransferFrom', { PermitTransferFrom: [field('permitted', 'TokenPermissions'), ...tail], ...permissions }, { permitted: somePermission(), ...rest() }],
      ['PermitBatchTransferFrom', { PermitBatchTransferFrom: [field('permitted', 'TokenPermissions[]'), ...tail], ...permissions }, { permitted: [somePermission(), somePermission()], ...rest() }],
      ['PermitWitnessTransferFrom', { PermitWitnessTransferFrom: [field('permitted', 'TokenPermissions'), ...tail, ...witness], ...permissions, ...order }, { permitted: somePermission(), ...rest(), witness: anOrder() }],
      ['PermitBatchWitnessTransferFrom', { PermitBatchWitnessTransferFrom: [field('permitted', 'TokenPermissions[]'), ...tail, ...witness], ...permissions, ...order }, { permitted: [somePermission(), somePermission()], ...rest(), witness: anOrder() }],
    ]) {
      const moves = total(listed(made).map((part) => [token(chain, part.token.toLowerCase()), part.amount]));
      add(`Permit2 ${primaryType}`, { domain: atPermit2(chain), primaryType, types, message: made }, { ...moves, [native(chain)]: '0' });
      // One token twice counts twice.
      if (Array.isArray(made.details ?? made.permitted)) {
        const twice = structuredClone(made);
        const parts = twice.details ?? twice.permitted;
        parts[1].token = parts[0].token;
        add(`Permit2 ${primaryType}, a token twice`, { domain: atPermit2(chain), primaryType, types, message: twice },
          total(listed(twice).map((part) => [token(chain, part.token.toLowerCase()), part.amount])));
      }
      const elsewhere = { ...atPermit2(chain), verifyingContract: address() };
      add(`Permit2 ${primaryType} elsewhere`, { domain: elsewhere, primaryType, types, message: made }, {
        [token(chain, listed(made)[0].token)]: untold, [token(10, listed(made)[0].token)]: '0',
      });
    }
    const dai = [field('holder', 'address'), field('spender', 'address'), field('nonce', 'uint256'), field('expiry', 'uint256'), field('allowed', 'bool')];
    const daiDomain = atToken(chain);
    add("DAI's permit", { domain: daiDomain, primaryType: 'Permit', types: { Permit: dai }, message: { holder: address(), spender: address(), nonce: 0n, expiry: 1n, allowed: true } }, {
      [token(chain, daiDomain.verifyingContract)]: untold,
    });
    const orderDomain = atToken(chain);
    add('an order', { domain: orderDomain, primaryType: 'Order', types: order, message: anOrder() }, {
      [token(chain, orderDomain.verifyingContract)]: untold, [native(chain)]: untold, [native(10)]: '0',
    });
  }
  const { chainId, ...nowhere } = atToken(1);
  add('EIP-3009 without a chain', { domain: nowhere, primaryType: 'TransferWithAuthorization', types: { TransferWithAuthorization: authorization }, message: pay() }, {
    [token(1, nowhere.verifyingContract)]: untold,
  });
  const narrow = authorization.map((f) => (f.name === 'value' ? field('value', 'uint128') : f));
  const narrowDomain = atToken(1);
  add('EIP-3009 with another type of amount', { domain: narrowDomain, primaryType: 'TransferWithAuthorization', types: { TransferWithAuthorization: narrow }, message: { ...pay(), value: 5n } }, {
    [token(1, narrowDomain.verifyingContract)]: untold,
  });
  return all;
}
