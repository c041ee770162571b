// What the agent does: call the contract. It knows nothing of the rules; the
// server holds them.
import { TurnkeySigner } from '@turnkey/ethers';
import { Interface, Transaction } from 'ethers';

import { connect } from './latchkey.mjs';
import { abi, token } from './owner.mjs';

// open gives { organizationId, address, client, signer } for an agent's key.
export function open({ organizationId, address }, key) {
  const client = connect(organizationId, key);
  return { organizationId, address, client, signer: new TurnkeySigner({ client, organizationId, signWith: address }) };
}

// A transaction that calls the contract. With a provider, ethers finds nonce
// and fees by itself; here there is no network, so they are given.
export const call = (name, args, more) => ({
  type: 2,
  chainId: 1n,
  nonce: 0,
  to: token,
  value: 0n,
  data: new Interface(abi).encodeFunctionData(name, args),
  gasLimit: 80_000n,
  maxFeePerGas: 20_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
  ...more,
});

// The words of the server, without the details.
export function refusal(error) {
  const said = /Turnkey error \d+: (.*?)( \(Details|$)/.exec(error.message);
  if (!said) throw error; // not a refusal: the network, …
  return said[1];
}

// Which parts of the policy are not true of a transaction. The server answers
// as if the transaction had been sent, and does nothing.
export async function whyNot({ organizationId, address, client }, transaction) {
  const { policies } = await client.request('/latchkey/v1/explain', {
    organizationId,
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    parameters: {
      type: 'TRANSACTION_TYPE_ETHEREUM',
      signWith: address,
      unsignedTransaction: Transaction.from(transaction).unsignedSerialized,
    },
  });
  return policies
    .filter((policy) => policy.effect === 'EFFECT_ALLOW')
    .flatMap((policy) => [...policy.condition, ...policy.consensus])
    .filter((part) => part.value === 'false' && !part.source.includes('&&'))
    .map((part) => part.source);
}
