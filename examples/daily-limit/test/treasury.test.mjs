// One officer pays while the limit lasts, two pay more; nothing is passed by paying
// at the same moment; and what is signed is what was approved: ethers says so.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { Transaction } from 'ethers';

import { latchkey, policyFile } from '../deploy.mjs';
import { setUp } from '../setup.mjs';
import { approve, explain, limit, pay, payment, signedBy } from '../treasury.mjs';

const supplier = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

describe('a treasury with a daily limit', () => {
  let treasury;
  let officers;
  before(async () => {
    treasury = await setUp();
    officers = [treasury.ada, treasury.ben, treasury.cleo];
  });

  const signedFor = (text, transaction) => {
    const signed = Transaction.from(text);
    assert.equal(signed.from, treasury.address);
    assert.equal(signed.unsignedSerialized, Transaction.from(transaction).unsignedSerialized);
  };

  it('all officers at once pay ten times 1 ether, and the rest waits', async () => {
    const results = await Promise.all(
      Array.from({ length: 24 }, (_, i) => pay(treasury, officers[i % 3], payment(supplier, '1'))),
    );
    assert.equal(results.filter(({ signed }) => signed).length, 10);
    for (const { pending } of results.filter(({ signed }) => !signed)) {
      assert.equal(pending.status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
    }
    assert.deepEqual(await limit(treasury, treasury.ada), { used: '10', left: '0' });
  });

  it('a second officer lets more pass, and it counts', async () => {
    const { ada, ben, cleo } = treasury;
    const transaction = payment(supplier, '40');
    const { pending } = await pay(treasury, cleo, { ...transaction });
    const { control, canApprove } = await explain(treasury, ben, pending);
    assert.deepEqual(canApprove, ['Ada', 'Ben']);
    assert.deepEqual([control.used, control.left, control.after, control.holds], ['10', '0', '50', false]);
    assert.equal((await approve(cleo, pending)).status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED'); // not twice
    const done = await approve(ada, pending);
    assert.equal(done.status, 'ACTIVITY_STATUS_COMPLETED');
    signedFor(signedBy(done), transaction);
    assert.deepEqual(await limit(treasury, ada), { used: '50', left: '0' });
  });

  it('no officer changes the limit alone', async () => {
    const { ada } = treasury;
    const { policies } = await ada.client.getPolicies();
    const { activity } = await ada.client.deletePolicy({ policyId: policies[0].policyId });
    assert.equal(activity.status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
    assert.deepEqual((await ada.client.getPolicies()).policies, policies);
  });

  it('the policies do what their cases say', () => {
    assert.match(latchkey('policy', 'test', '--min-coverage', '100', policyFile), /13 of 13 cases passed; 100% of the clauses covered/);
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
