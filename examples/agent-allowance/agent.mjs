// What the agent does: pay, in the two ways in which agents pay USDC. It knows
// nothing of the limit; the server holds it.
import { createAccount } from '@turnkey/viem';
import { createWalletClient, encodeFunctionData, erc20Abi, http, parseUnits, serializeTransaction, toHex } from 'viem';
import { base } from 'viem/chains';

export const chainId = base.id;
export const usdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

// open gives a wallet of viem whose account signs on the server. Its network is
// not asked for anything here.
export async function open({ organizationId, address, agent }) {
  const account = await createAccount({ client: agent.client, organizationId, signWith: address, ethereumAddress: address });
  return createWalletClient({ account, chain: base, transport: http() });
}

let nonce = 0;

// A transaction that transfers USDC. With a provider, viem finds nonce and fees by
// itself; here there is no network, so they are given.
export const transfer = (to, amount) => ({
  type: 'eip1559',
  chainId,
  nonce: nonce++,
  to: usdc,
  value: 0n,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, parseUnits(amount, 6)] }),
  gas: 80_000n,
  maxFeePerGas: 1_000_000_000n,
  maxPriorityFeePerGas: 1_000_000n,
});

// What x402 signs to pay for a request: an authorization by EIP-3009, which the
// seller hands to the token.
export const authorization = (from, to, amount) => ({
  domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: usdc },
  primaryType: 'TransferWithAuthorization',
  types: {
    TransferWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  },
  message: {
    from,
    to,
    value: parseUnits(amount, 6),
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 60),
    nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
  },
});

// The words of the server, without the details.
export function refusal(error) {
  for (let e = error; e; e = e.cause) {
    const said = /Turnkey error \d+: (.*?)( \(Details|$)/.exec(e.message);
    if (said) return said[1];
  }
  throw error; // not a refusal: the network, …
}

// What the limit has for a payment, as the server explains it; nothing is done.
export async function limitFor({ organizationId, address, agent }, transaction) {
  const { controls } = await agent.client.request('/latchkey/v1/explain', {
    organizationId,
    type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    parameters: {
      type: 'TRANSACTION_TYPE_ETHEREUM',
      signWith: address,
      unsignedTransaction: serializeTransaction(transaction),
    },
  });
  return controls.find(({ identifier }) => identifier === 'usdc_a_day');
}
