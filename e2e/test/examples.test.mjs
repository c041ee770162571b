// Exchanges for docs/api that no other test has in the form that the pages show.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { parseEther, Transaction } from 'ethers';

import { flavours, newKey, send } from '../lib/clients.mjs';
import { choose, Collection, problemsOf, renew } from '../lib/examples.mjs';
import { exchanged } from '../lib/record.mjs';
import { storeName, useServer } from '../lib/server.mjs';
import { connectUser, createUsers } from '../lib/users.mjs';

const [http] = flavours;

describe(`examples on ${storeName}`, () => {
  const held = useServer();
  const rootUser = () => connectUser(http, held.dev, held.rootKey, held.dev.userId);

  // The other tests leave it to signers.
  it('sign_transaction by the bare client', async () => {
    const root = rootUser();
    const accounts = [
      { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0", addressFormat: 'ADDRESS_FORMAT_ETHEREUM' },
    ];
    const { addresses } = await root.run('createWallet', { walletName: 'till', accounts });
    const transaction = Transaction.from({
      type: 2,
      chainId: 1,
      nonce: 0,
      to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      value: parseEther('0.5'),
      gasLimit: 21000,
      maxFeePerGas: 2_000_000_000,
      maxPriorityFeePerGas: 1_000_000_000,
    });
    const { signedTransaction } = await root.run('signTransaction', {
      type: 'TRANSACTION_TYPE_ETHEREUM',
      signWith: addresses[0],
      unsignedTransaction: transaction.unsignedSerialized,
    });
    const signed = Transaction.from(`0x${signedTransaction}`);
    assert.equal(signed.from, addresses[0]);
    assert.equal(signed.unsignedSerialized, transaction.unsignedSerialized);
  });

  // It is not of the public interface: no client has a call for it, so it is
  // posted by hand, with a published stamper.
  it('explain says what would become of an activity, and does nothing', async () => {
    const { dev } = held;
    const root = rootUser();
    const [ada, ben] = await createUsers(http, dev, root, 'Ada', 'Ben');
    const request = {
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      organizationId: dev.organizationId,
      parameters: { userTagName: 'crew', userIds: [] },
      policies: [
        {
          policyName: 'two agree',
          effect: 'EFFECT_ALLOW',
          condition: "activity.resource == 'USER'",
          consensus: `approvers.filter(user, user.id in ['${ada.userId}', '${ben.userId}']).count() >= 2`,
        },
      ],
      approvers: [ada.userId],
    };
    const ask = async (key) => {
      const body = JSON.stringify(request);
      return send({ url: `${dev.baseUrl}/latchkey/v1/explain`, body, stamp: await new ApiKeyStamper(key).stamp(body) });
    };
    const reply = await exchanged(request, async () => (await ask(ada.key)).reply);
    assert.equal(reply.outcome, 'PENDING', JSON.stringify(reply));
    assert.deepEqual(
      reply.policies.map(({ outcome }) => outcome),
      ['OUTCOME_REQUIRES_CONSENSUS'],
    );
    assert.deepEqual(reply.canApprove.map(({ userId }) => userId).sort(), [dev.userId, ben.userId].sort());

    request.approvers.push(ben.userId);
    assert.equal((await ask(ada.key)).reply.outcome, 'ALLOW');
    assert.deepEqual((await root.query('listUserTags')).userTags, []);
    assert.equal((await ask(newKey())).status, 401);
  });

  it('backtest decides what was refused again, by other policies', async () => {
    const { dev } = held;
    const [eve] = await createUsers(http, dev, rootUser(), 'Eve');
    const post = async (path, request, key) => {
      const body = JSON.stringify(request);
      return send({ url: `${dev.baseUrl}${path}`, body, stamp: await new ApiKeyStamper(key).stamp(body) });
    };
    const since = Date.now();
    const refused = await post('/public/v1/submit/create_user_tag', {
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      timestampMs: String(since),
      organizationId: dev.organizationId,
      parameters: { userTagName: 'friends', userIds: [] },
    }, eve.key);
    assert.equal(refused.status, 403);
    const request = {
      organizationId: dev.organizationId,
      sinceMs: String(since),
      policies: [
        {
          policyName: 'Eve and her tags',
          effect: 'EFFECT_ALLOW',
          condition: "activity.kind == 'CREATE_USER_TAG'",
          consensus: `approvers.any(user, user.id == '${eve.userId}')`,
        },
      ],
    };
    const reply = await exchanged(request, async () => (await post('/latchkey/v1/backtest', request, eve.key)).reply);
    assert.deepEqual(
      reply.different.map(({ type, before, after }) => [type, before, after]),
      [['ACTIVITY_TYPE_CREATE_USER_TAG', 'DENY', 'ALLOW']],
      JSON.stringify(reply),
    );
    assert.equal(reply.different[0].explanation.after.policies[0].outcome, 'OUTCOME_ALLOW');
    assert.equal((await post('/latchkey/v1/backtest', { ...request, sinceMs: 'now' }, eve.key)).status, 400);
    assert.equal((await post('/latchkey/v1/backtest', request, newKey())).status, 401);
  });

  // Published clients have their types, and no calls for them.
  it('the auth proxy is enabled, changed and disabled, by hand', async () => {
    const { dev } = held;
    const submit = async (operation, parameters) => {
      const type = `ACTIVITY_TYPE_${operation.toUpperCase()}`;
      const request = { type, timestampMs: String(Date.now()), organizationId: dev.organizationId, parameters };
      const body = JSON.stringify(request);
      const url = `${dev.baseUrl}/public/v1/submit/${operation}`;
      const stamp = await new ApiKeyStamper(held.rootKey).stamp(body);
      return (await exchanged(request, async () => (await send({ url, body, stamp })).reply)).activity.result;
    };
    await submit('disable_auth_proxy', {});
    const { enableAuthProxyResult } = await submit('enable_auth_proxy', {});
    assert.ok(enableAuthProxyResult.userId);
    const { updateAuthProxyConfigResult } = await submit('update_auth_proxy_config', {
      allowedOrigins: ['https://app.example.com'],
      allowedAuthMethods: ['email', 'passkey'],
      sessionExpirationSeconds: 3600,
      otpLength: 6,
      emailCustomizationParams: { appName: 'Example' },
      verificationTokenRequiredForGetAccountPii: true,
    });
    const { configs } = await rootUser().query('getOrganizationConfigs');
    const feature = configs.features.find(({ name }) => name === 'FEATURE_NAME_AUTH_PROXY');
    assert.equal(feature.value, updateAuthProxyConfigResult.configId);
  });

  it('receipt by hand, with a published stamper', async () => {
    const { dev } = held;
    const root = rootUser();
    const activity = await root.client.submit('createUserTag', { userTagName: 'proven', userIds: [] });
    const request = { organizationId: dev.organizationId, activityId: activity.id };
    const ask = async (asked, key = held.rootKey) => {
      const body = JSON.stringify(asked);
      return send({ url: `${dev.baseUrl}/latchkey/v1/receipt`, body, stamp: await new ApiKeyStamper(key).stamp(body) });
    };
    while ((await ask(request)).status === 409) await new Promise((resolve) => setTimeout(resolve, 50));
    const { receipt } = await exchanged(request, async () => (await ask(request)).reply);
    const record = JSON.parse(receipt.record);
    assert.equal(record.activityId, activity.id);
    assert.equal(record.requestDigest, activity.fingerprint.replace('sha256:', ''));
    assert.match(receipt.proof, /^c2sp\.org\/tlog-proof@v1\n/);
    assert.equal((await ask({ ...request, status: 'ACTIVITY_STATUS_REJECTED' })).status, 404);
    assert.equal((await ask({ ...request, activityId: 'x' })).status, 400);
    assert.equal((await ask(request, newKey())).status, 401);
  });

  it('controls by hand, with a published stamper', async () => {
    const { dev } = held;
    const root = rootUser();
    const { velocityControlId } = await root.run('createVelocityControl', {
      name: 'Ether of a day',
      identifier: 'daily_ether',
      dataSource: { chainAssetTransfer: { definition: [{ caip19: 'eip155:1/slip44:60', decimals: '18' }] } },
      aggregation: {
        method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
        operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
        threshold: '2',
        window: { rolling: { duration: '86400' } },
        groupBy: { organization: {} },
      },
    });
    const request = { organizationId: dev.organizationId, identifier: 'daily_ether' };
    const ask = async (asked, key = held.rootKey) => {
      const body = JSON.stringify(asked);
      return send({ url: `${dev.baseUrl}/latchkey/v1/controls`, body, stamp: await new ApiKeyStamper(key).stamp(body) });
    };
    const { controls } = await exchanged(request, async () => (await ask(request)).reply);
    assert.deepEqual(controls.map((c) => [c.velocityControlId, c.unreadable]), [[velocityControlId, '0']]);
    assert.equal((await ask({ ...request, identifier: 'other' })).status, 404);
    assert.equal((await ask(request, newKey())).status, 401);
    await root.run('deleteVelocityControl', { velocityControlId });
  });

  it('events and their stream by hand, with a published stamper', async () => {
    const { dev } = held;
    const activity = await rootUser().client.submit('createUserTag', { userTagName: 'told', userIds: [] });
    const request = { organizationId: dev.organizationId, limit: 1, types: [activity.type] };
    const stamped = async (asked, key = held.rootKey) => {
      const body = JSON.stringify(asked);
      return { body, stamp: await new ApiKeyStamper(key).stamp(body) };
    };
    const ask = async (asked, key) => send({ url: `${dev.baseUrl}/latchkey/v1/events`, ...(await stamped(asked, key)) });
    while ((await ask(request)).reply.events.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    const reply = await exchanged(request, async () => (await ask(request)).reply);
    assert.equal(reply.events[0].activity.type, activity.type);
    assert.equal(reply.cursor, reply.events[0].cursor);
    assert.equal((await ask({ ...request, after: 'x' })).status, 400);
    assert.equal((await ask(request, newKey())).status, 401);

    const wanted = { organizationId: dev.organizationId, types: [activity.type] };
    const first = await exchanged(wanted, async () => {
      const { body, stamp } = await stamped(wanted);
      const headers = { [stamp.stampHeaderName]: stamp.stampHeaderValue };
      const streamed = await fetch(`${dev.baseUrl}/latchkey/v1/events/stream`, { method: 'POST', headers, body });
      assert.equal(streamed.headers.get('content-type'), 'text/event-stream');
      let text = '';
      for await (const part of streamed.body) {
        text += Buffer.from(part).toString();
        const event = text.match(/^id: (.*)\ndata: (.*)\n\n/m);
        if (event) return JSON.parse(event[2]); // and the stream is closed
      }
      throw new Error(`the stream ended: ${text}`);
    });
    assert.deepEqual(first, reply.events[0]);
  });
});

describe('recorded examples', () => {
  const operations = [{ operation: 'create_thing', type: 'CREATE_THING_V2' }, { operation: 'get_thing' }];
  const made = (id, more) => ({
    request: { type: 'CREATE_THING_V2', parameters: { names: ['a'], ...more } },
    reply: { activity: { id, result: { thingId: id } } },
  });
  const got = (id, more) => ({ request: { thingId: id }, reply: { things: [{ id }, { id, ...more }] } });
  const run = (...examples) => {
    const collection = new Collection();
    for (const [operation, example] of examples) collection.add(operation, example);
    return collection;
  };
  const recorded = { create_thing: made('1'), get_thing: got('2', { size: 5 }) };
  const current = run(['create_thing', made('3')], ['create_thing', made('4', { note: 'x' })], ['get_thing', got('5', { size: 7 })]);

  it('are current while a run has exchanges with the same members', () => {
    assert.deepEqual(problemsOf(recorded, operations, [current, current]), []);
  });

  it('are not when members, versions or operations differ, on any store', () => {
    const other = 'the example has other members than the exchanges of this run';
    const older = { ...made('3'), request: { ...made('3').request, type: 'CREATE_THING' } };
    const cases = [
      [run(['create_thing', made('3')], ['get_thing', got('5')]), `get_thing: ${other}`],
      [run(['create_thing', made('3')], ['get_thing', got('5', { size: 7, color: 'red' })]), `get_thing: ${other}`],
      [run(['create_thing', older], ['get_thing', got('5', { size: 7 })]), `create_thing: ${other}`],
      [run(['create_thing', made('3')]), `get_thing: ${other}`],
    ];
    for (const [second, problem] of cases) assert.deepEqual(problemsOf(recorded, operations, [current, second]), [problem]);
    assert.deepEqual(problemsOf({ create_thing: made('1') }, operations, [current]), ['get_thing: has no example']);
    assert.deepEqual(problemsOf({ ...recorded, old: made('1') }, operations, [current]), ['old: there is no such operation']);
  });

  it('are the fullest exchanges, and of those the shortest', () => {
    assert.deepEqual(choose([made('1'), made('22', { note: 'x' }), made('1', { note: 'x' })]), made('1', { note: 'x' }));
    const long = made('1', { note: 'x'.repeat(9_000) });
    assert.deepEqual(choose([long, made('1')]), made('1'));
    assert.deepEqual(choose([long]), long);
  });

  it('stay as they are while an exchange is like them', () => {
    const alike = run(['create_thing', made('3')], ['get_thing', got('5', { size: 5 })]);
    assert.deepEqual(renew(recorded, operations, alike), recorded);
    const renewed = renew(recorded, operations, current);
    assert.deepEqual(renewed, { create_thing: made('4', { note: 'x' }), get_thing: got('5', { size: 7 }) });
  });
});
