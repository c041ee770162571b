// What the backend does all day: sign payments, and understand a refusal.
import { TurnkeySigner } from '@turnkey/ethers';
import { parseEther, Transaction } from 'ethers';

export const sepolia = 11155111n;

// An ethers signer whose key stays on the server.
export function openWallet({ organizationId, address, backend }) {
  return new TurnkeySigner({ client: backend.client, organizationId, signWith: address });
}

// An EIP-1559 transaction that pays. With a provider, ethers finds nonce and
// fees by itself; here there is no network, so they are given.
export const payment = (to, ether, more) => ({
  type: 2,
  chainId: sepolia,
  nonce: 0,
  to,
  value: parseEther(ether),
  gasLimit: 21_000n,
  maxFeePerGas: 20_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
  ...more,
});

// The server's words about a refusal: what every client sees, and what the
// policies said.
export function refusal(error) {
  const { code, details } = error.cause ?? error;
  if (code !== 7) throw error; // not a refusal: the network, a mistake in the request, …
  const [, message] = /Turnkey error 7: (.*?) \(Details/.exec(error.message);
  const said = details.find((detail) => detail['@type'].endsWith('PolicyEnginePermissionError'));
  return { message, reason: said.message };
}

// Which parts of which policies are not true of a transaction. The server
// answers as if the transaction had been sent, and does nothing.
export async function whyNot({ organizationId, address, backend }, transaction) {
  const { policies } = await backend.client.request('/latchkey/v1/explain', {
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
