import { ask, outcome, setUp } from './payout.mjs';

const { organizationId, backend, ada } = await setUp();
for (const decide of ['approveActivity', 'rejectActivity']) {
  const asked = await ask({ organizationId, backend }, `wallet to ${decide}`);
  console.log(`the back end asks: ${asked.activity.status}`);
  const waiting = outcome({ organizationId, backend }, asked);
  await ada.client[decide]({ fingerprint: asked.activity.fingerprint });
  const { status, votes, result } = await waiting;
  console.log(`it is told: ${status} by ${votes.map(({ user }) => user.userName).join(' and ')}`);
  if (result.createWalletResult) console.log(`and goes on with wallet ${result.createWalletResult.walletId}`);
}
