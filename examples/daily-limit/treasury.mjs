// What officers do: pay, look at what waits, approve.
import { TurnkeySigner } from '@turnkey/ethers';
import { parseEther } from 'ethers';

let nonce = 0;

// An EIP-1559 transaction that pays. With a provider, ethers finds nonce and
// fees by itself; here there is no network, so they are given.
export const payment = (to, ether, more) => ({
  type: 2,
  chainId: 1n,
  nonce: nonce++,
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

// explain says why an activity waits: { control, canApprove }, the limit and the
// names of those who can still approve.
export async function explain({ organizationId }, officer, { id }) {
  const { controls, canApprove } = await officer.client.request('/latchkey/v1/explain', { organizationId, activityId: id });
  return { control: controls[0], canApprove: canApprove.map(({ userName }) => userName) };
}

// Gives the activity as it is after the vote.
export const approve = async (officer, { fingerprint }) => (await officer.client.approveActivity({ fingerprint })).activity;

// The signature of a payment that has been approved.
export const signedBy = (activity) => `0x${activity.result.signTransactionResult.signedTransaction}`;

// What the limit has: { used, left }.
export async function limit({ organizationId }, officer) {
  const { controls } = await officer.client.request('/latchkey/v1/controls', { organizationId, identifier: 'ether_a_day' });
  const [{ used, left } = { used: '0', left: '10' }] = controls[0].groups;
  return { used, left };
}
