// What officers do: pay, look at what others want to pay, approve or reject.
import { computeActivityFingerprint } from '@turnkey/crypto';
import { TurnkeySigner } from '@turnkey/ethers';
import { parseEther, Transaction } from 'ethers';

// An EIP-1559 transaction that pays. With a provider, ethers finds nonce and
// fees by itself; here there is no network, so they are given.
export const payment = (to, ether, more) => ({
  type: 2,
  chainId: 1n,
  nonce: 0,
  to,
  value: parseEther(ether),
  gasLimit: 21_000n,
  maxFeePerGas: 20_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
  ...more,
});

// pay asks for a signature. It gives { signed }, or { pending }: the activity
// that waits for another officer's approval.
export async function pay({ organizationId, address }, officer, transaction) {
  const signer = new TurnkeySigner({ client: officer.client, organizationId, signWith: address });
  try {
    return { signed: await signer.signTransaction(transaction) };
  } catch (error) {
    if (error.activityStatus !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') throw error;
    const { activity } = await officer.client.getActivity({ activityId: error.activityId });
    return { pending: activity };
  }
}

// review gives the transaction that an approval of this fingerprint would
// approve: the fingerprint is the hash of the request that proposed it.
export function review({ fingerprint, votes }) {
  const [{ message }] = votes;
  if (computeActivityFingerprint(message) !== fingerprint) throw new Error('this is not what the fingerprint stands for');
  return Transaction.from(`0x${JSON.parse(message).parameters.unsignedTransaction}`);
}

// Both give the activity as it is after the vote.
export const approve = async (user, { fingerprint }) => (await user.client.approveActivity({ fingerprint })).activity;
export const reject = async (user, { fingerprint }) => (await user.client.rejectActivity({ fingerprint })).activity;

// The signature of a payment that has been approved.
export const signedBy = (activity) => `0x${activity.result.signTransactionResult.signedTransaction}`;

// The words of the server, without the details.
export function refusal(error) {
  const said = /Turnkey error \d+: (.*?)( \(Details|$)/.exec(error.message);
  if (!said) throw error; // not a refusal: the network, …
  return said[1];
}
