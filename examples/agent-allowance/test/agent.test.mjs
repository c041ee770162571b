// Ten payments of 10 USDC pass, however they are made and however many come at
// once; and what is signed is what was asked for: viem says so.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { parseTransaction, recoverTransactionAddress, verifyTypedData } from 'viem';

import { authorization, limitFor, open, refusal, transfer } from '../agent.mjs';
import { latchkey, policyFile } from '../deploy.mjs';
import { newKey } from '../latchkey.mjs';
import { setUp } from '../setup.mjs';

const ana = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const noRight = /^You don't have sufficient permissions to take this action\./;

const refuses = async (attempt) => {
  const error = await attempt.then(
    (result) => assert.fail(`it was done: ${result}`),
    (e) => e,
  );
  assert.match(refusal(error), noRight);
};

describe('an agent with an allowance', () => {
  let place;
  let wallet;
  before(async () => {
    place = await setUp();
    wallet = await open(place);
  });

  const state = async () => {
    const { controls } = await place.owner.client.request('/latchkey/v1/controls', { organizationId: place.organizationId });
    return controls[0];
  };

  it('what is signed is what was asked for', async () => {
    const transaction = transfer(ana, '10');
    const signed = await wallet.account.signTransaction(transaction);
    assert.equal(await recoverTransactionAddress({ serializedTransaction: signed }), place.address);
    assert.equal(parseTransaction(signed).data, transaction.data);

    const paid = authorization(place.address, ana, '10');
    const signature = await wallet.signTypedData(paid);
    assert.ok(await verifyTypedData({ ...paid, address: place.address, signature }));
    assert.deepEqual((await state()).groups.map(({ groupId, used, left }) => ({ groupId, used, left })), [
      { groupId: place.agent.userId, used: '20', left: '80' },
    ]);
  });

  it('what cannot be read is refused, and so is too much at once', async () => {
    await refuses(wallet.account.signTransaction({ ...transfer(ana, '10'), data: '0xdeadbeef' }));
    await refuses(wallet.account.signTransaction(transfer(ana, '80.000001')));
    await refuses(wallet.signTypedData(authorization(place.address, ana, '80.000001')));
    await refuses(wallet.account.signTypedData(authorization(place.address, ana, '10'))); // without its domain
    await refuses(wallet.signMessage({ message: 'hello' }));
    assert.equal((await state()).groups[0].used, '20');
  });

  it('of forty payments at once eight pass, which are left', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, i) =>
        i % 2 ? wallet.account.signTransaction(transfer(ana, '10')) : wallet.signTypedData(authorization(place.address, ana, '10')),
      ),
    );
    for (const { reason } of results.filter(({ status }) => status === 'rejected')) assert.match(refusal(reason), noRight);
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 8);
    const { used, left, after, holds } = await limitFor(place, transfer(ana, '10'));
    assert.deepEqual({ used, left, after, holds }, { used: '100', left: '0', after: '110', holds: false });
  });

  it('the agent changes nothing about it', async () => {
    const { agent, owner } = place;
    const { velocityControls } = await owner.client.request('/public/v1/query/list_velocity_controls', { organizationId: place.organizationId });
    const [{ walletId }] = (await owner.client.getWallets()).wallets;
    await refuses(agent.client.exportWallet({ walletId, targetPublicKey: newKey().publicKeyUncompressed }));
    await refuses(
      agent.client.request('/public/v1/submit/delete_velocity_control', {
        type: 'ACTIVITY_TYPE_DELETE_VELOCITY_CONTROL',
        timestampMs: String(Date.now()),
        organizationId: place.organizationId,
        parameters: { velocityControlId: velocityControls[0].velocityControlId },
      }),
    );
  });

  it('the policies do what their cases say', () => {
    assert.match(latchkey('policy', 'test', '--min-coverage', '100', policyFile), /23 of 23 cases passed; 100% of the clauses covered/);
    latchkey('policy', 'check', '--strict', policyFile);
  });

  it('the page shows the policies as they are', () => {
    const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
    const [, shown] = /^```yaml\n(.*?)^```$/ms.exec(read('README.md'));
    const [, written] = /^(velocityControls:.*)^cases:/ms.exec(read('policies.yaml'));
    const lines = (text) => text.split('\n').filter((line) => line && !/^ {4}notes:/.test(line));
    assert.deepEqual(lines(shown), lines(written));
  });
});
