// One officer is not enough, any two are; others cannot vote; and
// what is signed is what was approved: ethers says so.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verifyStampSignature } from '@turnkey/crypto';
import { Transaction } from 'ethers';
import { parse } from 'yaml';

import { apiKey, connect, newKey } from '../latchkey.mjs';
import { setUp } from '../setup.mjs';
import { approve, pay, payment, refusal, reject, review, signedBy } from '../treasury.mjs';

const supplier = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const limit = '1';
const above = '1.000000000000000001';

const refuses = async (attempt, pattern) => {
  const error = await attempt.then(
    (result) => assert.fail(`it was done: ${JSON.stringify(result)}`),
    (e) => e,
  );
  assert.match(refusal(error), pattern);
};
const noSay = /^You don't have sufficient permissions to take this action\./;

describe('a treasury', () => {
  let treasury;
  let ada;
  let ben;
  let cleo;
  let dan;
  before(async () => {
    treasury = await setUp();
    ({ ada, ben, cleo, dan } = treasury);
  });

  const signedFor = (text, transaction) => {
    const signed = Transaction.from(text);
    assert.equal(signed.from, treasury.address);
    assert.equal(signed.unsignedSerialized, Transaction.from(transaction).unsignedSerialized);
  };
  // A payment that waits.
  const propose = async (officer, transaction) => {
    const { pending, signed } = await pay(treasury, officer, { ...transaction });
    assert.equal(signed, undefined);
    assert.equal(pending.status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
    assert.deepEqual(pending.result, {});
    return pending;
  };
  const stateOf = async ({ id }) => (await dan.client.getActivity({ activityId: id })).activity;
  const quorum = async () => (await dan.client.getOrganizationConfigs({})).configs.quorum;

  it('any officer alone pays up to the limit', async () => {
    for (const officer of [ada, ben, cleo]) {
      const transaction = payment(supplier, limit);
      signedFor((await pay(treasury, officer, { ...transaction })).signed, transaction);
    }
    await refuses(pay(treasury, dan, payment(supplier, '0')), noSay);
  });

  it('any two pay more', async () => {
    for (const [one, other] of [
      [ada, ben],
      [ben, cleo],
      [cleo, ada],
    ]) {
      const transaction = payment(supplier, above);
      const pending = await propose(one, transaction);
      assert.equal(review(pending).unsignedSerialized, Transaction.from(transaction).unsignedSerialized);
      const done = await approve(other, pending);
      assert.equal(done.id, pending.id);
      assert.equal(done.status, 'ACTIVITY_STATUS_COMPLETED');
      signedFor(signedBy(done), transaction);
      // The record says who agreed to what, and it can be checked.
      assert.deepEqual(
        done.votes.map((vote) => vote.userId),
        [one.userId, other.userId],
      );
      for (const { publicKey, signature, message } of done.votes) {
        assert.ok(await verifyStampSignature(publicKey, signature, message));
      }
      assert.equal(JSON.parse(done.votes[1].message).parameters.fingerprint, pending.fingerprint);
    }
  });

  it('what is more than a plain payment takes two as well', async () => {
    for (const more of [
      { to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' },
      { data: '0xdeadbeef' },
      { gasLimit: 21_001n },
      { maxFeePerGas: 2n ** 80n },
      { type: 0, gasPrice: 2n ** 80n, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined },
    ]) {
      const transaction = payment(supplier, '0', more);
      const pending = await propose(ada, transaction);
      signedFor(signedBy(await approve(cleo, pending)), transaction);
    }
  });

  it('one officer does not count twice', async () => {
    const pending = await propose(ada, payment(supplier, '3'));
    assert.equal((await approve(ada, pending)).status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
    // Not with a second key either.
    const key = newKey();
    await ada.client.createApiKeys({ userId: ada.userId, apiKeys: [apiKey('phone', key)] });
    const phone = { client: connect(treasury.organizationId, key) };
    assert.equal((await approve(phone, pending)).status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
    assert.equal((await approve(ben, pending)).status, 'ACTIVITY_STATUS_COMPLETED');
  });

  it('a user who is no officer neither approves nor rejects', async () => {
    const pending = await propose(ada, payment(supplier, '5'));
    await refuses(approve(dan, pending), noSay);
    await refuses(reject(dan, pending), noSay);
    const { status, votes } = await stateOf(pending);
    assert.equal(status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
    assert.equal(votes.length, 1);
    assert.deepEqual(
      await Promise.all(
        [ada, ben, cleo, dan].map(async ({ client }) => {
          const { activity } = await client.getActivity({ activityId: pending.id });
          return activity.canApprove;
        }),
      ),
      [false, true, true, false],
    );
    await reject(ada, pending);
  });

  it('a rejection is final', async () => {
    const pending = await propose(cleo, payment(supplier, '7'));
    const rejected = await reject(ben, pending);
    assert.equal(rejected.status, 'ACTIVITY_STATUS_REJECTED');
    assert.deepEqual(rejected.result, {});
    for (const officer of [ada, ben, cleo]) await refuses(approve(officer, pending), /already rejected/);
    assert.equal((await stateOf(pending)).status, 'ACTIVITY_STATUS_REJECTED');
  });

  it('an approval is for one payment', async () => {
    const [one, other] = [await propose(ada, payment(supplier, '8')), await propose(ada, payment(supplier, '9'))];
    assert.notEqual(one.fingerprint, other.fingerprint);
    await approve(ben, one);
    assert.equal((await stateOf(other)).status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
    await refuses(approve(ben, one), /already completed/);
    await refuses(approve(ben, { fingerprint: `sha256:${'0'.repeat(64)}` }), /No activity found/);
    assert.throws(() => review({ ...one, fingerprint: other.fingerprint }), /not what the fingerprint/);
    await reject(cleo, other);
  });

  it('no officer changes the rules alone', async () => {
    const { policies } = await dan.client.getPolicies();
    const before = await quorum();
    const officers = [ada, ben, cleo].map((officer) => officer.userId);
    assert.deepEqual(before, { threshold: 2, userIds: officers });
    const { userTags } = await dan.client.listUserTags();
    const user = { userName: 'x', apiKeys: [apiKey('x', newKey())], authenticators: [], oauthProviders: [], userTags: [] };
    const everything = { effect: 'EFFECT_ALLOW', condition: "activity.action == 'SIGN'", notes: '' };
    const attempts = {
      createPolicy: { policyName: 'everything', consensus: `approvers.any(user, user.id == '${ada.userId}')`, ...everything },
      updatePolicy: { policyId: policies[1].policyId, policyConsensus: 'approvers.count() >= 1' },
      deletePolicy: { policyId: policies[0].policyId },
      updateRootQuorum: { threshold: 1, userIds: officers },
      createUsers: { users: [user] },
      updateUserTag: { userTagId: userTags[0].tagId, addUserIds: [dan.userId], removeUserIds: [] },
      exportWallet: { walletId: treasury.walletId, targetPublicKey: newKey().publicKeyUncompressed },
    };
    for (const [method, parameters] of Object.entries(attempts)) {
      const { activity } = await ada.client[method](parameters);
      assert.equal(activity.status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED', method);
      assert.deepEqual(activity.result, {}, method);
      await refuses(approve(dan, activity), noSay);
      assert.equal((await reject(ben, activity)).status, 'ACTIVITY_STATUS_REJECTED', method);
      // A user who is no officer is refused at once.
      await refuses(dan.client[method](parameters), noSay);
    }
    assert.deepEqual((await dan.client.getPolicies()).policies, policies);
    assert.deepEqual(await quorum(), before);
  });

  it('two change the rules, and the policies hold without the root quorum', async () => {
    const officers = [ada, ben, cleo].map((officer) => officer.userId);
    const { activity } = await cleo.client.updateRootQuorum({ threshold: 3, userIds: officers });
    assert.equal((await approve(ada, activity)).status, 'ACTIVITY_STATUS_COMPLETED');
    assert.deepEqual(await quorum(), { threshold: 3, userIds: officers });

    // Now two are not the root quorum any more. They still pay, by the policy.
    const transaction = payment(supplier, '10');
    const pending = await propose(ben, transaction);
    signedFor(signedBy(await approve(cleo, pending)), transaction);
    const { policyEvaluations } = await dan.client.getPolicyEvaluations({ activityId: pending.id });
    assert.deepEqual(
      policyEvaluations.map((vote) => vote.policyEvaluations.map((e) => e.outcome)),
      [
        ['OUTCOME_DENY_IMPLICIT', 'OUTCOME_REQUIRES_CONSENSUS'],
        ['OUTCOME_DENY_IMPLICIT', 'OUTCOME_ALLOW'],
      ],
    );
    // What the policy does not cover takes all three.
    const elsewhere = payment(supplier, '10', { chainId: 8453n });
    const other = await propose(ben, elsewhere);
    assert.equal((await approve(cleo, other)).status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
    signedFor(signedBy(await approve(ada, other)), elsewhere);
  });

  it('the policies do what their cases say', () => {
    const latchkey = process.env.LATCHKEY_BIN || fileURLToPath(new URL('../../../bin/latchkey', import.meta.url));
    const file = fileURLToPath(new URL('../policies.yaml', import.meta.url));
    const output = execFileSync(latchkey, ['policy', 'test', '--min-coverage', '100', file], { encoding: 'utf8' });
    assert.match(output, /13 of 13 cases passed; 100% of the clauses covered/);
    execFileSync(latchkey, ['policy', 'check', '--strict', file]);
  });

  it('the page shows the policies as they are', () => {
    const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
    const [, shown] = /^```yaml\n(.*?)^```$/ms.exec(read('README.md'));
    const { policies } = parse(read('policies.yaml'));
    assert.deepEqual(
      parse(shown),
      policies.map(({ notes, ...policy }) => policy),
    );
  });
});
