// The back end is told what people decided, also when they did so before it
// listened; and who has no right to read is told nothing.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { follow, now } from '../events.mjs';
import { newKey } from '../latchkey.mjs';
import { ask, outcome, setUp } from '../payout.mjs';

describe('waiting for an approval', () => {
  let payouts;
  before(async () => {
    payouts = await setUp();
  });

  it('goes on when it is approved', async () => {
    const asked = await ask(payouts, 'one');
    assert.equal(asked.activity.status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
    const waiting = outcome(payouts, asked);
    await payouts.ada.client.approveActivity({ fingerprint: asked.activity.fingerprint });
    const told = await waiting;
    assert.equal(told.status, 'ACTIVITY_STATUS_COMPLETED');
    assert.match(told.result.createWalletResult.walletId, /^[0-9a-f-]{36}$/);
    assert.equal(told.votes.length, 2);
  });

  it('stops when it is rejected, also when that was before it listened', async () => {
    const asked = await ask(payouts, 'two');
    await payouts.ada.client.rejectActivity({ fingerprint: asked.activity.fingerprint });
    const told = await outcome(payouts, asked);
    assert.equal(told.status, 'ACTIVITY_STATUS_REJECTED');
    assert.deepEqual(told.result, {});
  });

  it('tells strangers nothing', async () => {
    await assert.rejects(now(payouts.organizationId, newKey()), /could not find public key/);
    await assert.rejects(follow(payouts.organizationId, newKey(), 'now').next(), /could not find public key/);
    await assert.rejects(follow(payouts.organizationId, payouts.ada.key, 'yesterday').next(), /no cursor of this installation/);
  });
});
