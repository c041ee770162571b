// Policies and quorums: transactions that ethers and @solana/web3.js make are
// allowed, refused or left pending, through the published signers and clients.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { Keypair, PublicKey, SystemProgram, Transaction, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { computeActivityFingerprint, verifyStampSignature } from '@turnkey/crypto';
import { TurnkeySigner as EthersSigner } from '@turnkey/ethers';
import {
  assertActivityCompleted,
  createActivityPoller,
  getSignatureFromActivity,
  getSignedTransactionFromActivity,
  TurnkeyActivityConsensusNeededError,
  TurnkeyActivityError,
} from '@turnkey/http';
import { TurnkeySigner as SolanaSigner } from '@turnkey/solana';
import { createAccount } from '@turnkey/viem';
import * as ethers from 'ethers';

import { flavours, send } from '../lib/clients.mjs';
import { through } from '../lib/record.mjs';
import { storeName, useServer } from '../lib/server.mjs';
import { shape } from '../lib/shapes.mjs';
import { createOrganization, createUsers, refusal, refuses, runner } from '../lib/users.mjs';

const payee = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const tokenAddress = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const ether = 10n ** 18n;

const accounts = [
  {
    curve: 'CURVE_SECP256K1',
    pathFormat: 'PATH_FORMAT_BIP32',
    path: "m/44'/60'/0'/0/0",
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  },
  { curve: 'CURVE_ED25519', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/501'/0'/0'", addressFormat: 'ADDRESS_FORMAT_SOLANA' },
];

const transfer = (to, value, more) => ({
  type: 2,
  to,
  value,
  nonce: 0,
  gasLimit: 21000n,
  chainId: 1n,
  maxFeePerGas: 2000000000n,
  maxPriorityFeePerGas: 1000000000n,
  ...more,
});

const names = (user) => `approvers.any(user, user.id == '${user.userId}')`;
const blockhash = () => Keypair.generate().publicKey.toBase58();

// What the signers make of a refusal differs; the text of the server is in all.
const denied = /sufficient permissions to take this action|policy engine denied request explicitly/;

describe(`policies on ${storeName}`, () => {
  const held = useServer();

  for (const flavour of flavours) {
    describe(flavour.name, () => {
      const { label } = flavour;
      let dev; // an organization of this client's own
      let root;
      let ada; // proposes
      let ben; // approves
      let carol; // does too
      let eve; // has no say in anything
      let wallet;
      let eth;
      let sol;
      let approvers; // id of the tag that ben and carol have

      const allow = (policyName, condition, consensus, more) => ({
        policyName,
        effect: 'EFFECT_ALLOW',
        condition,
        consensus,
        notes: '',
        ...more,
      });
      const createPolicy = async (policy) => (await root.run('createPolicy', policy)).policyId;
      const deletePolicy = (policyId) => root.run('deletePolicy', { policyId });
      // Policies for one test.
      const under = async (policies, test) => {
        const { policyIds } = await root.run('createPolicies', { policies });
        assert.equal(policyIds.length, policies.length);
        try {
          return await test(...policyIds);
        } finally {
          await root.run('deletePolicies', { policyIds });
        }
      };
      const ethersOf = (user) =>
        new EthersSigner({ client: user.client.client, organizationId: dev.organizationId, signWith: eth });
      const signed = (user, tx) => through('@turnkey/ethers', () => ethersOf(user).signTransaction({ ...tx }));
      const allows = async (user, tx) => {
        const parsed = ethers.Transaction.from(await signed(user, tx));
        assert.equal(parsed.from, eth);
        assert.equal(parsed.unsignedSerialized, ethers.Transaction.from(tx).unsignedSerialized);
      };
      const denies = (user, tx) => assert.rejects(signed(user, tx), denied);
      const solanaOf = (user) => new SolanaSigner({ client: user.client.client, organizationId: dev.organizationId });
      const signTransaction = (tx) => ({
        signWith: eth,
        type: 'TRANSACTION_TYPE_ETHEREUM',
        unsignedTransaction: ethers.Transaction.from(tx).unsignedSerialized,
      });
      const getActivity = async (user, activityId) => shape.activity((await user.query('getActivity', { activityId })).activity);
      const evaluations = async (activityId) => {
        const { policyEvaluations } = await eve.query('getPolicyEvaluations', { activityId });
        policyEvaluations.forEach(shape.evaluations);
        return policyEvaluations;
      };
      const vote = async (user, method, { fingerprint }) => shape.activity(await user.client.submit(method, { fingerprint }));

      before(async () => {
        [dev, root] = await createOrganization({ ...held, flavour }, `${label} policies`, ['Root']);
        [ada, ben, carol, eve] = await createUsers(flavour, dev, root, 'Ada', 'Ben', 'Carol', 'Eve');
        ({ userTagId: approvers } = await root.run('createUserTag', {
          userTagName: 'approvers',
          userIds: [ben.userId, carol.userId],
        }));
        wallet = await root.run('createWallet', { walletName: 'treasury', accounts });
        [eth, sol] = wallet.addresses;
      });

      it('create, read, update and delete', async () => {
        const policy = allow('wallets', "activity.resource == 'WALLET'", names(ada), { notes: 'for Ada' });
        const activity = await root.client.submit('createPolicy', policy);
        assert.deepEqual(activity.intent.createPolicyIntentV3, policy);
        const policyId = await createPolicy({ ...policy, policyName: 'wallets of Ada' });
        const get = async (id) => shape.policy((await eve.query('getPolicy', { policyId: id })).policy);
        const first = await get(activity.result.createPolicyResult.policyId);
        const { policyName, effect, condition, consensus, notes } = first;
        assert.deepEqual({ policyName, effect, condition, consensus, notes }, policy);

        assert.deepEqual(await root.run('updatePolicy', { policyId, policyNotes: 'read only', policyEffect: 'EFFECT_DENY' }), {
          policyId,
        });
        const updated = await get(policyId);
        assert.deepEqual(
          [updated.policyName, updated.effect, updated.condition, updated.consensus, updated.notes],
          ['wallets of Ada', 'EFFECT_DENY', policy.condition, policy.consensus, 'read only'],
        );
        const { policies } = await eve.query('getPolicies');
        policies.forEach(shape.policy);
        assert.deepEqual(policies, [first, updated]);

        await refuses(flavour, root, 6, 'createPolicy', policy, /wallets/);
        await refuses(flavour, eve, 7, 'createPolicy', { ...policy, policyName: 'mine' });
        await refuses(flavour, eve, 7, 'deletePolicy', { policyId });
        assert.deepEqual(await deletePolicy(policyId), { policyId });
        await assert.rejects(get(policyId), refusal(flavour, 5));
        await refuses(flavour, root, 5, 'deletePolicy', { policyId });
        await refuses(flavour, root, 5, 'updatePolicy', { policyId, policyNotes: '' });
        await refuses(flavour, root, 5, 'deletePolicies', { policyIds: [first.policyId, policyId] });
        assert.deepEqual(await root.run('deletePolicies', { policyIds: [first.policyId] }), { policyIds: [first.policyId] });
        assert.deepEqual((await eve.query('getPolicies')).policies, []);
      });

      it('invalid expressions are refused when they are written', async () => {
        const refused = (policy, pattern) => refuses(flavour, root, 3, 'createPolicy', allow('refused', ...policy), pattern);
        await refused(["activity.type = 'x'", names(ada)], /invalid policy condition/);
        await refused(['activity.type == "x"', names(ada)], /invalid policy condition/);
        await refused(["activity.nosuch == 'x'", names(ada)], /invalid policy condition.*nosuch/);
        await refused(["eth.tx.chain_id == '1'", names(ada)], /invalid policy condition/);
        await refused(['eth.tx.gasPrice > 1', names(ada)], /gas_price/);
        await refused(["activity.type == 'x'", 'eth.tx.value > 1'], /invalid policy consensus/);
        await refused([undefined, undefined], /condition or a consensus/);
        const good = allow('good', "activity.type == 'x'", names(ada));
        await refuses(flavour, root, 3, 'createPolicies', { policies: [good, allow('refused', '1', names(ada))] });
        assert.deepEqual((await root.query('getPolicies')).policies, [], 'all or none');
      });

      it('a spending limit, through @turnkey/ethers and @turnkey/viem', async () => {
        const condition = `wallet.id == '${wallet.walletId}' && eth.tx.to == '${payee}' && eth.tx.value <= ${ether} && eth.tx.chain_id == 1`;
        await denies(ada, transfer(payee, 1n));
        await under([allow('limit', condition, names(ada))], async () => {
          await allows(ada, transfer(payee, ether));
          await allows(ada, transfer(payee, 0n, { data: '0x1234', gasLimit: 30000n }));
          await allows(ada, { type: 0, to: payee, value: 1n, nonce: 1, gasLimit: 21000n, gasPrice: 1n, chainId: 1n });
          await denies(ada, transfer(payee, ether + 1n));
          await denies(ada, transfer(payee, 2n ** 255n));
          await denies(ada, transfer(stranger, 1n));
          await denies(ada, transfer(null, 1n, { data: '0x60' }));
          await denies(ada, transfer(payee, 1n, { chainId: 5n }));
          await denies(eve, transfer(payee, 1n));
          // A digest is no transaction: it could be any.
          await through('@turnkey/ethers', () => assert.rejects(ethersOf(ada).signMessage('hello'), denied));
          // The root quorum needs no policy.
          await allows(root, transfer(stranger, ether * 5n));

          await through('@turnkey/viem', async () => {
            const account = await createAccount({
              client: ada.client.client,
              organizationId: dev.organizationId,
              signWith: eth,
            });
            const tx = (value) => ({
              to: payee,
              value,
              chainId: 1,
              gas: 21000n,
              maxFeePerGas: 2n,
              maxPriorityFeePerGas: 1n,
              nonce: 0,
            });
            assert.equal(ethers.Transaction.from(await account.signTransaction(tx(ether))).from, eth);
            await assert.rejects(account.signTransaction(tx(ether + 1n)), denied);
          });
        });
        await denies(ada, transfer(payee, 1n));
      });

      it('contract calls by their arguments', async () => {
        const token = new ethers.Interface([
          'function transfer(address to, uint256 amount) returns (bool)',
          'function approve(address spender, uint256 amount) returns (bool)',
        ]);
        const call = (name, args, to = tokenAddress) =>
          transfer(to, 0n, { gasLimit: 60000n, data: token.encodeFunctionData(name, args) });
        const parameters = {
          smartContractAddress: tokenAddress,
          smartContractInterface: token.formatJson(),
          type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
          label: 'token',
          notes: 'a test token',
        };
        const policy = allow(
          'token',
          `eth.tx.to == '${tokenAddress.toLowerCase()}' && eth.tx.function_name == 'transfer' && eth.tx.value == 0 && ` +
            `eth.tx.contract_call_args['to'] == '${payee}' && eth.tx.contract_call_args['amount'] <= 1000000`,
          names(ada),
        );
        await under([policy], async () => {
          // Nothing is known of the contract yet.
          await denies(ada, call('transfer', [payee, 1n]));
          const { smartContractInterfaceId } = await root.run('createSmartContractInterface', parameters);
          await allows(ada, call('transfer', [payee, 1000000n]));
          await denies(ada, call('transfer', [payee, 1000001n]));
          await denies(ada, call('transfer', [payee, 2n ** 256n - 1n]));
          await denies(ada, call('transfer', [stranger, 1n]));
          await denies(ada, call('approve', [payee, 1n]));
          await denies(ada, call('transfer', [payee, 1n], stranger));
          await denies(ada, { ...call('transfer', [payee, 1n]), value: 1n });

          const { smartContractInterface } = await eve.query('getSmartContractInterface', { smartContractInterfaceId });
          shape.contractInterface(smartContractInterface);
          const { smartContractAddress, smartContractInterface: text, type, label: name, notes } = smartContractInterface;
          assert.deepEqual(
            { smartContractAddress, smartContractInterface: text, type, label: name, notes },
            { ...parameters, smartContractAddress },
          );
          assert.equal(ethers.getAddress(smartContractAddress), tokenAddress);
          assert.deepEqual((await eve.query('getSmartContractInterfaces')).smartContractInterfaces, [smartContractInterface]);

          await refuses(flavour, eve, 7, 'deleteSmartContractInterface', { smartContractInterfaceId });
          await refuses(flavour, root, 3, 'createSmartContractInterface', {
            ...parameters,
            label: 'x',
            smartContractInterface: '{}',
          });
          const gone = await root.run('deleteSmartContractInterface', { smartContractInterfaceId });
          assert.deepEqual(gone, { smartContractInterfaceId });
          await denies(ada, call('transfer', [payee, 1n]));
          assert.deepEqual((await eve.query('getSmartContractInterfaces')).smartContractInterfaces, []);
        });
      });

      it('transfers of Solana, through @turnkey/solana', async () => {
        const from = new PublicKey(sol);
        const friend = Keypair.generate().publicKey;
        const move = (to, lamports) => SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports });
        const legacy = (...instructions) =>
          new Transaction({ feePayer: from, recentBlockhash: blockhash() }).add(...instructions);
        const versioned = (...instructions) =>
          new VersionedTransaction(
            new TransactionMessage({ payerKey: from, recentBlockhash: blockhash(), instructions }).compileToV0Message(),
          );
        const sign = (user, tx) => through('@turnkey/solana', () => solanaOf(user).signTransaction(tx, sol));
        const condition =
          "solana.tx.program_keys.all(p, p == '11111111111111111111111111111111') && solana.tx.transfers.count() == solana.tx.instructions.count() && " +
          `solana.tx.transfers.all(t, t.from == '${sol}' && t.to == '${friend.toBase58()}' && t.amount <= 1000)`;
        await assert.rejects(sign(ada, legacy(move(friend, 1))), denied);
        await under([allow('solana', condition, names(ada))], async () => {
          assert.ok((await sign(ada, legacy(move(friend, 1000)))).verifySignatures());
          const both = await sign(ada, versioned(move(friend, 1), move(friend, 1000)));
          assert.notDeepEqual(both.signatures[0], new Uint8Array(64));
          await assert.rejects(sign(ada, legacy(move(friend, 1001))), denied);
          await assert.rejects(sign(ada, versioned(move(friend, 1), move(Keypair.generate().publicKey, 1))), denied);
          await assert.rejects(
            sign(ada, legacy(move(friend, 1), SystemProgram.assign({ accountPubkey: from, programId: friend }))),
            denied,
          );
          await assert.rejects(sign(eve, legacy(move(friend, 1))), denied);
          // The same bytes as a payload say nothing of a transfer.
          const raw = legacy(move(friend, 1));
          await through('@turnkey/solana', () => assert.rejects(solanaOf(ada).addSignature(raw, sol), denied));
        });
      });

      it('a DENY wins over an ALLOW, and says which it was', async () => {
        const everything = allow('signs everything', "activity.action == 'SIGN'", names(ada));
        const never = { ...allow('never there', `eth.tx.to == '${stranger.toLowerCase()}'`), effect: 'EFFECT_DENY' };
        await under([everything, never], async (allowId, denyId) => {
          await allows(ada, transfer(payee, ether));
          await assert.rejects(signed(ada, transfer(stranger, 1n)), /policy engine denied request explicitly/);
          const reply = await refuses(flavour, ada, 7, 'signTransaction', signTransaction(transfer(stranger, 1n)));
          assert.equal(reply.message, 'policy engine denied request explicitly');
          const detail = reply.details.find((d) => d['@type'] === 'type.googleapis.com/errors.v1.PolicyEnginePermissionError');
          assert.equal(detail.message, `The following policies denied this action: ${denyId}`);
          assert.deepEqual(
            detail.policyEvaluations.map(({ policyId, outcome }) => [policyId, outcome]),
            [
              [allowId, 'OUTCOME_ALLOW'],
              [denyId, 'OUTCOME_DENY_EXPLICIT'],
            ],
          );
          // What was refused can be read later, with the reasons.
          const { activities } = await eve.query('getActivities', {
            filterByStatus: ['ACTIVITY_STATUS_FAILED'],
            filterByType: ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2'],
            paginationOptions: { limit: '1' },
          });
          const [entry] = await evaluations(activities[0].id);
          assert.equal(entry.voteId, activities[0].votes[0].id);
          assert.deepEqual(
            entry.policyEvaluations.map((e) => e.outcome),
            ['OUTCOME_ALLOW', 'OUTCOME_DENY_EXPLICIT'],
          );
          // It does not apply to what has no such field.
          await through('@turnkey/ethers', () => ethersOf(ada).signMessage('hello'));
        });
      });

      describe('consensus of two', () => {
        let policyId;
        // The proposal of a user who needs a second approval, as the signer shows it.
        const propose = async (user, tx) => {
          const error = await signed(user, tx).then(
            () => assert.fail('signed without approval'),
            (e) => e,
          );
          assert.equal(error.name, 'TurnkeyActivityConsensusNeededError', `${error.stack}`);
          assert.equal(error.activityStatus, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
          const activity = await getActivity(user, error.activityId);
          assert.equal(activity.status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
          assert.deepEqual(activity.result, {});
          assert.equal(activity.failure ?? null, null);
          return activity;
        };

        before(async () => {
          const consensus = `${names(ada)} && approvers.filter(user, user.tags.contains('${approvers}')).count() >= 1`;
          policyId = await createPolicy(allow('two of them', `wallet.id == '${wallet.walletId}'`, consensus));
        });

        it('one proposes, another approves, and the signature is there', async () => {
          const tx = transfer(stranger, ether);
          const activity = await propose(ada, tx);
          // Every reader sees who may approve or reject.
          for (const [user, can] of [
            [ada, false],
            [ben, true],
            [carol, true],
            [eve, false],
            [root, true],
          ]) {
            assert.equal((await getActivity(user, activity.id)).canApprove, can);
          }
          await refuses(flavour, eve, 7, 'approveActivity', { fingerprint: activity.fingerprint });
          assert.equal((await vote(ada, 'approveActivity', activity)).status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
          assert.throws(() => assertActivityCompleted(activity), TurnkeyActivityConsensusNeededError);

          const done = await vote(ben, 'approveActivity', activity);
          assert.equal(done.id, activity.id);
          assert.equal(done.type, 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2');
          assert.equal(done.status, 'ACTIVITY_STATUS_COMPLETED');
          assert.equal(ethers.Transaction.from(getSignedTransactionFromActivity(done)).from, eth);
          assert.deepEqual(await getActivity(ben, activity.id), done);

          // Each vote is what was signed, and can be checked by anyone.
          assert.deepEqual([...new Set(done.votes.map((v) => v.userId))], [ada.userId, ben.userId]);
          for (const { message, publicKey, signature, selection } of done.votes) {
            assert.equal(selection, 'VOTE_SELECTION_APPROVED');
            assert.ok(await verifyStampSignature(publicKey, signature, message));
          }
          assert.equal(computeActivityFingerprint(done.votes[0].message), activity.fingerprint);
          assert.equal(JSON.parse(done.votes.at(-1).message).parameters.fingerprint, activity.fingerprint);

          const [first, ...later] = await evaluations(activity.id);
          assert.deepEqual(
            first.policyEvaluations.map((e) => [e.policyId, e.outcome]),
            [[policyId, 'OUTCOME_REQUIRES_CONSENSUS']],
          );
          assert.equal(later.at(-1).policyEvaluations[0].outcome, 'OUTCOME_ALLOW');
          assert.deepEqual(
            [first, ...later].map((e) => e.voteId),
            done.votes.map((v) => v.id),
          );

          // It is over.
          await refuses(flavour, carol, 3, 'approveActivity', { fingerprint: activity.fingerprint });
          await refuses(flavour, carol, 3, 'rejectActivity', { fingerprint: activity.fingerprint });
          await refuses(
            flavour,
            ben,
            5,
            'approveActivity',
            { fingerprint: `sha256:${'0'.repeat(64)}` },
            /No activity found with fingerprint/,
          );
        });

        it('a raw payload waits in the same way', async () => {
          const payload = ethers.id('x');
          const activity = await ada.client.submit('signRawPayload', {
            signWith: eth,
            payload,
            encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
            hashFunction: 'HASH_FUNCTION_NO_OP',
          });
          assert.equal(activity.status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
          assert.throws(() => getSignatureFromActivity(activity), TurnkeyActivityConsensusNeededError);
          const { r, s, v } = getSignatureFromActivity(await vote(carol, 'approveActivity', activity));
          assert.equal(ethers.recoverAddress(payload, { r: `0x${r}`, s: `0x${s}`, v: 27 + parseInt(v, 16) }), eth);
        });

        it('a rejection is final', async () => {
          const activity = await propose(ada, transfer(payee, 7n));
          await refuses(flavour, eve, 7, 'rejectActivity', { fingerprint: activity.fingerprint });
          const rejected = await vote(ben, 'rejectActivity', activity);
          assert.equal(rejected.status, 'ACTIVITY_STATUS_REJECTED');
          assert.deepEqual(rejected.result, {});
          assert.equal(rejected.votes.at(-1).selection, 'VOTE_SELECTION_REJECTED');
          assert.throws(() => assertActivityCompleted(rejected), TurnkeyActivityError);
          await refuses(flavour, carol, 3, 'approveActivity', { fingerprint: activity.fingerprint });
          assert.equal((await getActivity(ada, activity.id)).status, 'ACTIVITY_STATUS_REJECTED');
        });

        it('the same bytes from another user are an approval', async () => {
          const request = await ada.client.sign('signTransaction', signTransaction(transfer(payee, 8n)));
          const { status, reply } = await send(request);
          assert.equal(status, 200);
          assert.equal(shape.activity(reply.activity).status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
          assert.equal(computeActivityFingerprint(request.body), reply.activity.fingerprint);
          // Again from the first user they change nothing, and from a stranger they do not count.
          assert.equal((await send(request)).reply.activity.votes.length, 1);
          const as = async (user) => send({ ...request, stamp: await new ApiKeyStamper(user.key).stamp(request.body) });
          assert.equal((await as(eve)).status, 403);

          const second = await as(ben);
          assert.equal(second.status, 200);
          assert.equal(second.reply.activity.id, reply.activity.id);
          assert.equal(second.reply.activity.status, 'ACTIVITY_STATUS_COMPLETED');
          assert.deepEqual(
            second.reply.activity.votes.map((v) => v.userId),
            [ada.userId, ben.userId],
          );
          assert.deepEqual(
            second.reply.activity.votes.map((v) => v.message),
            [request.body, request.body],
          );
          const again = await send(request);
          assert.equal(again.reply.activity.status, 'ACTIVITY_STATUS_COMPLETED');
        });

        it('a user whom the policy does not name cannot submit', async () => {
          await denies(eve, transfer(payee, 1n));
          // Users who may approve may also submit: the other one then approves.
          const activity = await propose(ben, transfer(payee, 1n));
          await refuses(flavour, eve, 7, 'approveActivity', { fingerprint: activity.fingerprint });
          assert.equal((await vote(carol, 'approveActivity', activity)).status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
          assert.equal((await vote(ada, 'approveActivity', activity)).status, 'ACTIVITY_STATUS_COMPLETED');
        });

        it('an approval is decided by the policies at the time of the vote', async () => {
          const activity = await propose(ada, transfer(payee, 9n));
          const never = { ...allow('not this one', 'eth.tx.value == 9'), effect: 'EFFECT_DENY' };
          await under([never], async () => {
            const after = await vote(ben, 'approveActivity', activity);
            assert.equal(after.status, 'ACTIVITY_STATUS_FAILED');
            assert.equal(after.failure.code, 7);
            assert.deepEqual(after.result, {});
          });
        });

        if (flavour.name === '@turnkey/http') {
          it('createActivityPoller tells what it waits for', async () => {
            const { client, envelope } = ada.client;
            const poll = createActivityPoller({ client, requestFn: client.signTransaction, refreshIntervalMs: 10 });
            const body = envelope('signTransaction', signTransaction(transfer(payee, 10n)));
            const error = await poll(body).then(assert.fail, (e) => e);
            assert.ok(error instanceof TurnkeyActivityError, `${error.stack}`);
            assert.equal(error.message, `Consensus needed for activity ${error.activityId}`);
            assert.equal(error.activityStatus, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
            // The same request again finds it completed, or rejected.
            const activity = await getActivity(ada, error.activityId);
            await vote(ben, 'approveActivity', activity);
            assert.equal((await poll(body)).id, activity.id);

            const other = envelope('signTransaction', signTransaction(transfer(payee, 11n)));
            const { activityId } = await poll(other).then(assert.fail, (e) => e);
            await vote(ben, 'rejectActivity', await getActivity(ada, activityId));
            const rejected = await poll(other).then(assert.fail, (e) => e);
            assert.equal(rejected.message, `Activity ${activityId} was rejected`);
          });
        }
      });

      it('two of three root users', async () => {
        const [treasury, anna, bert, cleo] = await createOrganization({ ...held, flavour }, `${label} treasury`, ['Anna', 'Bert', 'Cleo']);
        const userIds = [anna, bert, cleo].map((user) => user.userId);
        const quorum = async () => (await cleo.query('getOrganizationConfigs')).configs.quorum;
        assert.deepEqual(await quorum(), { threshold: 1, userIds });
        for (const [parameters, pattern] of [
          [{ threshold: 0, userIds }, /quorum threshold must be non-zero integer/],
          [{ threshold: 1, userIds: [] }, /userIds/],
          [{ threshold: 4, userIds }, /threshold/],
        ]) {
          await refuses(flavour, anna, 3, 'updateRootQuorum', parameters, pattern);
        }
        assert.deepEqual(await anna.run('updateRootQuorum', { threshold: 2, userIds }), {});
        assert.deepEqual(await quorum(), { threshold: 2, userIds });

        // One submits, a second completes.
        const pending = await anna.client.submit('createWallet', { walletName: 'cold', accounts });
        assert.equal(shape.activity(pending).status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
        assert.deepEqual((await anna.query('getWallets')).wallets, []);
        const done = await vote(bert, 'approveActivity', pending);
        assert.equal(done.status, 'ACTIVITY_STATUS_COMPLETED');
        const { addresses } = done.result.createWalletResult;
        assert.equal((await anna.query('getWallets')).wallets.length, 1);

        const signer = new EthersSigner({
          client: cleo.client.client,
          organizationId: treasury.organizationId,
          signWith: addresses[0],
        });
        const error = await through('@turnkey/ethers', () => signer.signMessage('hello')).then(assert.fail, (e) => e);
        assert.equal(error.name, 'TurnkeyActivityConsensusNeededError', `${error.stack}`);
        const { activity } = await anna.query('getActivity', { activityId: error.activityId });
        const { r, s, v } = getSignatureFromActivity(await vote(anna, 'approveActivity', activity));
        const signature = { r: `0x${r}`, s: `0x${s}`, v: 27 + parseInt(v, 16) };
        assert.equal(ethers.verifyMessage('hello', signature), addresses[0]);

        // What is no longer possible when the approval comes fails then, and
        // the approver is told by the activity.
        const twice = [];
        for (let i = 0; i < 2; i++) twice.push(await anna.client.submit('createUserTag', { userTagName: 'once', userIds: [] }));
        assert.equal((await vote(bert, 'approveActivity', twice[0])).status, 'ACTIVITY_STATUS_COMPLETED');
        const failed = await vote(bert, 'approveActivity', twice[1]);
        assert.equal(failed.status, 'ACTIVITY_STATUS_FAILED');
        assert.equal(failed.failure.code, 6);
        assert.throws(() => assertActivityCompleted(failed), TurnkeyActivityError);

        // The quorum itself changes only by the quorum.
        const alone = await cleo.client.submit('updateRootQuorum', { threshold: 1, userIds: [cleo.userId] });
        assert.equal(alone.status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
        assert.deepEqual(await quorum(), { threshold: 2, userIds });
        assert.equal((await vote(bert, 'rejectActivity', alone)).status, 'ACTIVITY_STATUS_REJECTED');
        const back = await cleo.client.submit('updateRootQuorum', { threshold: 1, userIds: [anna.userId, bert.userId] });
        const changed = await vote(bert, 'approveActivity', back);
        assert.equal(changed.status, 'ACTIVITY_STATUS_COMPLETED');
        assert.deepEqual(changed.result.updateRootQuorumResult, {});
        assert.deepEqual(await quorum(), { threshold: 1, userIds: [anna.userId, bert.userId] });
        await refuses(flavour, cleo, 7, 'createWallet', { walletName: 'hers', accounts: [] });
        await runner(anna.client, treasury)('createWallet', { walletName: 'warm', accounts: [] });
      });

      it('a delegate who may do one thing', async () => {
        const [place, user, delegate, { wallet: first }] = await createOrganization(
          { ...held, flavour },
          `${label} delegated`,
          ['End user', 'Delegate'],
          { wallet: { walletName: 'main', accounts } },
        );
        const [from] = first.addresses;
        await delegate.run('createPolicy', allow('delegate', `eth.tx.to == '${payee}'`, names(delegate)));
        await delegate.run('updateRootQuorum', { threshold: 1, userIds: [user.userId] });
        const signer = (who) =>
          new EthersSigner({ client: who.client.client, organizationId: place.organizationId, signWith: from });
        const sign = (who, tx) => through('@turnkey/ethers', () => signer(who).signTransaction(tx));
        assert.equal(ethers.Transaction.from(await sign(delegate, transfer(payee, ether))).from, from);
        await assert.rejects(sign(delegate, transfer(stranger, ether)), denied);
        await refuses(flavour, delegate, 7, 'createPolicy', allow('more', `eth.tx.to == '${stranger}'`, names(delegate)));
        await refuses(flavour, delegate, 7, 'updateRootQuorum', { threshold: 1, userIds: [delegate.userId] });
        await refuses(flavour, delegate, 7, 'exportWallet', { walletId: first.walletId, targetPublicKey: place.signerPublicKey });
        assert.equal(ethers.Transaction.from(await sign(user, transfer(stranger, ether))).from, from);
        const { policies } = await user.query('getPolicies');
        await user.run('deletePolicy', { policyId: policies[0].policyId });
        await assert.rejects(sign(delegate, transfer(payee, ether)), denied);
      });
    });
  }

  it('the first versions, for old clients', async () => {
    const [http] = flavours;
    const [dev, root] = await createOrganization({ ...held, flavour: http }, 'old policies', ['Root']);
    const [ada] = await createUsers(http, dev, root, 'Ada');
    const as = async (method, type, parameters) => {
      const activity = shape.activity(await root.client.submit(method, parameters, `ACTIVITY_TYPE_${type}`));
      assert.equal(activity.status, 'ACTIVITY_STATUS_COMPLETED');
      assert.deepEqual(Object.values(activity.intent), [parameters]);
      return activity;
    };
    const selector = { subject: 'activity.type', operator: 'OPERATOR_EQUAL', target: 'ACTIVITY_TYPE_CREATE_WALLET' };
    const { subject, operator, target } = selector;
    const effect = 'EFFECT_ALLOW';
    const first = await as('createPolicy', 'CREATE_POLICY', { policyName: 'one', selectors: [selector], effect, notes: 'one' });
    await as('createPolicy', 'CREATE_POLICY_V2', {
      policyName: 'two',
      selectors: [
        { subject, operator, targets: [target] },
        { subject: 'approvers.id', operator: 'OPERATOR_IN', targets: [ada.userId, root.userId] },
      ],
      effect,
      notes: 'two',
    });
    await as('createPolicy', 'CREATE_POLICY_V3', { policyName: 'three', effect, consensus: names(ada), notes: '' });
    const { policies } = await root.query('getPolicies');
    policies.forEach(shape.policy);
    assert.deepEqual(
      policies.map((p) => p.policyName),
      ['one', 'two', 'three'],
    );
    const { policyId } = first.result.createPolicyResult;
    const updated = await as('updatePolicy', 'UPDATE_POLICY', { policyId, policyName: 'first', policyEffect: 'EFFECT_DENY' });
    assert.deepEqual(updated.result.updatePolicyResult, { policyId });
    await refuses(http, ada, 7, 'createWallet', { walletName: 'hers', accounts: [] }, /denied request explicitly/);
    await root.run('deletePolicy', { policyId });
    await ada.run('createWallet', { walletName: 'hers', accounts: [] });
  });
});
