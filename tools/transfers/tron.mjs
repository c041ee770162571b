// Tron transactions, made and read by tronweb.
import { TronWeb, utils } from 'tronweb';
import { decodeFunctionData, encodeFunctionData, parseAbi, toHex } from 'viem';

import { amount, bytes, hex, total, untold } from './vectors.mjs';

const network = 'tron:728126428';
const native = `${network}/slip44:195`;
const address = () => `41${hex(bytes(20))}`;
const token = (contract) => `${network}/trc20:${TronWeb.address.fromHex(contract)}`;

const abi = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function transferFrom(address from, address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function increaseAllowance(address spender, uint256 amount)',
]);

// make is the raw data of a transaction with one contract.
function make(type, value) {
  const transaction = {
    raw_data: {
      contract: [{ parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type }],
      ref_block_bytes: '0102', ref_block_hash: '0102030405060708', expiration: 1_800_000_000_000, timestamp: 1_799_999_999_000, fee_limit: 100_000_000,
    },
  };
  return utils.transaction.txPbToRawDataHex(utils.transaction.txJsonToPb(transaction)).toLowerCase().replace(/^0x/, '');
}

export function tron() {
  const all = [];
  const add = (name, type, value, moves) => {
    const payload = make(type, value);
    // What tronweb reads in the bytes.
    const read = utils.deserializeTx.deserializeTransaction(type, payload).contract[0].parameter.value;
    all.push({ name, chain: 'tron', payload, moves: typeof moves === 'function' ? moves(read) : moves });
  };
  const owner_address = address();
  const sun = () => Number(amount(50)) + 1;
  const other = address();
  for (let i = 0; i < 4; i++) {
    add('TransferContract', 'TransferContract', { owner_address, to_address: address(), amount: sun() }, (read) => ({
      ...total([[native, read.amount]]), [token(other)]: '0', 'tron:2494104990/slip44:195': String(read.amount),
    }));
  }
  for (const f of abi) {
    const data = encodeFunctionData({ abi: [f], args: f.inputs.map(({ type }) => (type === 'address' ? toHex(bytes(20)) : amount(256))) }).slice(2);
    add(`TRC-20 ${f.name}`, 'TriggerSmartContract', { owner_address, contract_address: address(), data, call_value: sun() }, (read) => {
      const { args } = decodeFunctionData({ abi: [f], data: `0x${read.data.toLowerCase()}` });
      return { ...total([[native, read.call_value], [token(read.contract_address), args.at(-1)]]), [token(other)]: '0' };
    });
  }
  add('an unknown call', 'TriggerSmartContract', { owner_address, contract_address: other, data: 'deadbeef', call_value: 7 }, { [native]: '7', [token(other)]: untold });
  add('a stake', 'FreezeBalanceV2Contract', { owner_address, frozen_balance: 5, resource: 'ENERGY' }, { [native]: '0', [token(other)]: '0' });
  add('resources lent', 'DelegateResourceContract', { owner_address, receiver_address: address(), balance: 5, resource: 'ENERGY' }, { [native]: '0', [token(other)]: '0' });
  add('new owners', 'AccountPermissionUpdateContract', {
    owner_address,
    owner: { type: 0, permission_name: 'owner', threshold: 1, keys: [{ address: other, weight: 1 }] },
    actives: [{ type: 2, permission_name: 'active', threshold: 1, operations: '7fff1fc0033e0000000000000000000000000000000000000000000000000000', keys: [{ address: other, weight: 1 }] }],
  }, { [native]: untold, [token(other)]: untold });
  return all;
}
