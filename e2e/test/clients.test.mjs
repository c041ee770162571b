// The published clients against the real binary: a root user builds up an
// organization, and an ordinary user tries what the permissions allow.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';

import { createActivityPoller } from '@turnkey/http';

import { completed, flavours, newKey, readStamp, send } from '../lib/clients.mjs';
import { newPlace, startServer, storeName } from '../lib/server.mjs';
import { shape } from '../lib/shapes.mjs';

const sha256 = (body) => `sha256:${createHash('sha256').update(body).digest('hex')}`;

describe(`clients on ${storeName}`, () => {
  const place = newPlace();
  let server;
  let dev;

  before(async () => {
    server = await startServer(place);
    dev = server.dev;
  });
  after(async () => {
    try {
      await server?.stop();
    } finally {
      await server?.end();
      place.remove();
    }
  });

  it('dev.json holds what scripts rely on, for its owner only', () => {
    assert.deepEqual(Object.keys(dev).sort(), [
      'apiPrivateKey',
      'apiPublicKey',
      'baseUrl',
      'organizationId',
      'sessionPublicKey',
      'signerPublicKey',
      'userId',
    ]);
    assert.match(dev.baseUrl, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    assert.match(dev.apiPublicKey, /^0[23][0-9a-f]{64}$/);
    assert.match(dev.apiPrivateKey, /^[0-9a-f]{64}$/);
    for (const key of [dev.signerPublicKey, dev.sessionPublicKey]) assert.match(key, /^04[0-9a-f]{128}$/);
    assert.equal(statSync(server.file).mode & 0o777, 0o600);
  });

  it('answers the endpoints outside the interface', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/.well-known/latchkey.json']) {
      const reply = await fetch(dev.baseUrl + path);
      await reply.arrayBuffer();
      assert.equal(reply.status, 200, path);
    }
  });

  for (const flavour of flavours) {
    describe(flavour.name, () => {
      const { RequestError, label } = flavour;
      const email = `ada.${label.replaceAll(' ', '.')}@example.com`;
      const adaKey = newKey();
      let root;
      let ada;
      let adaId;
      let tagId;

      // A refusal, as the client shows it.
      const refused = (code) => (error) => {
        assert.ok(error instanceof RequestError, `${error?.stack}`);
        assert.equal(error.code, code, error.message);
        assert.ok(Array.isArray(error.details), 'details must be an array');
        return true;
      };
      const newUser = (name, key, userTags) => ({
        userName: name,
        apiKeys: [{ apiKeyName: `${name} key`, publicKey: key.apiPublicKey, curveType: 'API_KEY_CURVE_P256' }],
        authenticators: [],
        oauthProviders: [],
        userTags,
      });

      before(() => {
        root = flavour.connect(dev, { apiPublicKey: dev.apiPublicKey, apiPrivateKey: dev.apiPrivateKey });
        ada = flavour.connect(dev, adaKey);
      });

      it('whoami', async () => {
        const who = shape.whoami(await root.query('getWhoami'));
        assert.equal(who.organizationId, dev.organizationId);
        assert.equal(who.userId, dev.userId);
        assert.notEqual(who.organizationName, '');
        assert.notEqual(who.username, '');
      });

      it('create_user_tag', async () => {
        const parameters = { userTagName: `${label} staff`, userIds: [] };
        const activity = await root.submit('createUserTag', parameters);
        const result = completed(activity, 'createUserTag', dev);
        assert.deepEqual(Object.keys(result).sort(), ['userIds', 'userTagId']);
        assert.deepEqual(result.userIds, []);
        assert.deepEqual(activity.intent.createUserTagIntent, parameters);
        tagId = result.userTagId;
      });

      it('create_users with an API key and a tag', async () => {
        const parameters = { users: [{ ...newUser(`${label} Ada`, adaKey, [tagId]), userEmail: email }] };
        const activity = await root.submit('createUsers', parameters);
        const { userIds } = completed(activity, 'createUsers', dev);
        assert.equal(userIds.length, 1);
        [adaId] = userIds;
        assert.deepEqual(activity.intent.createUsersIntentV4, parameters);
        // The other view keeps the names and the shape of the first version.
        const [first] = activity.result.activity.intent.createUsersIntent.users;
        assert.equal(first.userName, `${label} Ada`);
        assert.equal(typeof first.accessType, 'string');
      });

      it('whoami of the new user', async () => {
        assert.deepEqual(shape.whoami(await ada.query('getWhoami')), {
          ...(await root.query('getWhoami')),
          userId: adaId,
          username: `${label} Ada`,
        });
      });

      it('get_user and list_users', async () => {
        const { user } = await ada.query('getUser', { userId: adaId });
        shape.user(user);
        assert.equal(user.userId, adaId);
        assert.equal(user.userName, `${label} Ada`);
        assert.equal(user.userEmail, email);
        assert.ok(!('userPhoneNumber' in user), 'an absent number is left out');
        assert.deepEqual(user.userTags, [tagId]);
        assert.deepEqual([user.authenticators, user.oauthProviders, user.mfaPolicies], [[], [], []]);
        assert.equal(user.apiKeys.length, 1);
        const [key] = user.apiKeys;
        assert.equal(key.apiKeyName, `${label} Ada key`);
        assert.equal(key.credential.publicKey, adaKey.apiPublicKey);
        assert.equal(key.credential.type, 'CREDENTIAL_TYPE_API_KEY_P256');
        assert.ok(!('expirationSeconds' in key), 'a key without an end shows none');

        const { users } = await root.query('getUsers');
        users.forEach(shape.user);
        assert.deepEqual(users.find((u) => u.userId === adaId), user);
        assert.ok(users.some((u) => u.userId === dev.userId));
        assert.equal(new Set(users.map((u) => u.userId)).size, users.length);
      });

      it('list_user_tags', async () => {
        const { userTags } = await ada.query('listUserTags');
        userTags.forEach(shape.tag);
        const tag = userTags.find((t) => t.tagId === tagId);
        assert.equal(tag.tagName, `${label} staff`);
        assert.equal(tag.tagType, 'TAG_TYPE_USER');
      });

      it('an ordinary user may not create users: 403, stored, and the same again', async () => {
        const users = [newUser(`${label} Eve`, newKey(), [])];
        await assert.rejects(ada.submit('createUsers', { users }), refused(7));

        const request = await ada.sign('createUsers', { users });
        const first = await send(request);
        assert.equal(first.status, 403);
        shape.error(first.reply);
        assert.equal(first.reply.code, 7);
        assert.match(first.reply.message, /^You don't have sufficient permissions to take this action\./);
        const detail = first.reply.details.find((d) => d['@type'] === 'type.googleapis.com/errors.v1.PolicyEnginePermissionError');
        assert.equal(detail?.message, 'No policies evaluated to outcome: Allow');
        assert.ok(Array.isArray(detail.policyEvaluations));
        assert.deepEqual(await send(request), first);

        const { activities: failed } = await root.query('getActivities', {
          filterByStatus: ['ACTIVITY_STATUS_FAILED'],
          filterByType: ['ACTIVITY_TYPE_CREATE_USERS_V4'],
        });
        failed.forEach(shape.activity);
        const stored = failed.filter((a) => a.fingerprint === sha256(request.body));
        assert.equal(stored.length, 1);
        assert.equal(stored[0].status, 'ACTIVITY_STATUS_FAILED');
        assert.deepEqual(stored[0].result, {});
        assert.equal(stored[0].failure.code, 7);
        const { users: all } = await root.query('getUsers');
        assert.ok(!all.some((u) => u.userName === `${label} Eve`));
      });

      it('get_activity shows what was signed, and the same bytes are one activity', async () => {
        const request = await root.sign('createUserTag', { userTagName: `${label} signed`, userIds: [adaId] });
        const { status, reply } = await send(request);
        assert.equal(status, 200);
        completed(reply.activity, 'createUserTag', dev);
        assert.equal(reply.activity.timestampMs, JSON.parse(request.body).timestampMs);

        const { activity } = await root.query('getActivity', { activityId: reply.activity.id });
        completed(activity, 'createUserTag', dev);
        assert.deepEqual(activity, reply.activity);
        assert.equal(activity.fingerprint, sha256(request.body));
        const [vote] = activity.votes;
        const stamp = readStamp(request.stamp);
        assert.equal(vote.message, request.body);
        assert.equal(vote.userId, dev.userId);
        assert.equal(vote.user.userId, dev.userId);
        assert.deepEqual(
          { publicKey: vote.publicKey, signature: vote.signature, scheme: vote.scheme },
          { publicKey: stamp.publicKey, signature: stamp.signature, scheme: stamp.scheme },
        );

        const again = await send(request);
        assert.equal(again.status, 200);
        assert.equal(again.reply.activity.id, activity.id);
        const { userTags } = await root.query('listUserTags');
        assert.equal(userTags.filter((t) => t.tagName === `${label} signed`).length, 1);
      });

      it('list_activities, page by page', async () => {
        for (let i = 0; i < 11; i++) {
          await root.submit('createUserTag', { userTagName: `${label} page ${i}`, userIds: [] });
        }
        const filterByType = ['ACTIVITY_TYPE_CREATE_USER_TAG'];
        const page = async (options) => {
          const { activities } = await root.query('getActivities', { filterByType, paginationOptions: options });
          activities.forEach(shape.activity);
          return activities.map((a) => a.id);
        };
        const all = await page({ limit: '100' });
        assert.ok(all.length >= 13);
        assert.deepEqual(all, [...all].sort().reverse(), 'newest first');
        assert.deepEqual(await page(undefined), all.slice(0, 10), 'a page is 10 unless told');
        assert.deepEqual(await page({ limit: '4' }), all.slice(0, 4));
        assert.deepEqual(await page({ limit: '4', after: all[3] }), all.slice(4, 8));
        assert.deepEqual(await page({ limit: '100', before: all[3] }), all.slice(0, 3));

        const walked = [];
        for (let after; ; after = walked.at(-1)) {
          const ids = await page({ limit: '5', ...(after && { after }) });
          if (ids.length === 0) break;
          walked.push(...ids);
          assert.ok(walked.length <= all.length, 'paging does not end');
        }
        assert.deepEqual(walked, all);

        // Without a filter there are the other types too.
        const { activities: some } = await root.query('getActivities', { paginationOptions: { limit: '100' } });
        assert.ok(some.some((a) => a.type === 'ACTIVITY_TYPE_CREATE_USERS_V4'));
      });

      it('update_user_tag', async () => {
        const parameters = { userTagId: tagId, newUserTagName: `${label} crew`, addUserIds: [dev.userId], removeUserIds: [adaId] };
        const result = completed(await root.submit('updateUserTag', parameters), 'updateUserTag', dev);
        assert.deepEqual(result, { userTagId: tagId });
        const { userTags } = await root.query('listUserTags');
        assert.equal(userTags.find((t) => t.tagId === tagId).tagName, `${label} crew`);
        const { users } = await root.query('getUsers');
        assert.ok(!users.find((u) => u.userId === adaId).userTags.includes(tagId));
        assert.ok(users.find((u) => u.userId === dev.userId).userTags.includes(tagId));
      });

      it('create_api_keys, get_api_keys and delete_api_keys on the caller', async () => {
        const second = newKey();
        const created = await ada.submit('createApiKeys', {
          userId: adaId,
          apiKeys: [
            { apiKeyName: 'second', publicKey: second.apiPublicKey, curveType: 'API_KEY_CURVE_P256', expirationSeconds: '3600' },
          ],
        });
        const { apiKeyIds } = completed(created, 'createApiKeys', dev);
        assert.equal(apiKeyIds.length, 1);

        const keys = async () => {
          const { apiKeys } = await ada.query('getApiKeys', { userId: adaId });
          apiKeys.forEach(shape.apiKey);
          return apiKeys;
        };
        const added = (await keys()).find((k) => k.apiKeyId === apiKeyIds[0]);
        assert.equal(added.apiKeyName, 'second');
        assert.equal(added.credential.publicKey, second.apiPublicKey);
        assert.equal(added.expirationSeconds, '3600');
        assert.equal((await keys()).length, 2);

        const withSecond = flavour.connect(dev, second);
        assert.equal((await withSecond.query('getWhoami')).userId, adaId);
        const deleted = await ada.submit('deleteApiKeys', { userId: adaId, apiKeyIds });
        assert.deepEqual(completed(deleted, 'deleteApiKeys', dev), { apiKeyIds });
        assert.deepEqual((await keys()).map((k) => k.credential.publicKey), [adaKey.apiPublicKey]);
        await assert.rejects(withSecond.query('getWhoami'), refused(16));
      });

      it('not on another user', async () => {
        await assert.rejects(
          ada.submit('createApiKeys', {
            userId: dev.userId,
            apiKeys: [{ apiKeyName: 'mine now', publicKey: newKey().apiPublicKey, curveType: 'API_KEY_CURVE_P256' }],
          }),
          refused(7),
        );
      });

      it('get_api_keys of the organization', async () => {
        const { apiKeys } = await root.query('getApiKeys');
        apiKeys.forEach(shape.apiKey);
        const held = apiKeys.map((k) => k.credential.publicKey);
        for (const key of [dev.apiPublicKey, adaKey.apiPublicKey]) assert.ok(held.includes(key));
      });

      it('get_organization_configs', async () => {
        const { configs } = await ada.query('getOrganizationConfigs');
        shape.configs(configs);
        assert.deepEqual(configs.quorum, { threshold: 1, userIds: [dev.userId] });
        assert.deepEqual(configs.features.map((f) => f.name).sort(), [
          'FEATURE_NAME_AUTH_PROXY',
          'FEATURE_NAME_EMAIL_AUTH',
          'FEATURE_NAME_EMAIL_RECOVERY',
          'FEATURE_NAME_OTP_EMAIL_AUTH',
        ]);
      });

      it('an unknown key is refused', async () => {
        const stranger = flavour.connect(dev, newKey());
        await assert.rejects(stranger.query('getWhoami'), refused(16));
        await assert.rejects(stranger.submit('createUserTag', { userTagName: `${label} x`, userIds: [] }), refused(16));
      });

      it('an altered body is refused', async () => {
        const request = await root.sign('getWhoami');
        const { status, reply } = await send({ ...request, body: `${request.body} ` });
        assert.equal(status, 401);
        assert.equal(shape.error(reply).code, 16);
      });

      it('a tag name is given once', async () => {
        const again = { userTagName: `${label} crew`, userIds: [] };
        await assert.rejects(root.submit('createUserTag', again), refused(6));
        const { status, reply } = await send(await root.sign('createUserTag', again));
        assert.equal(status, 409);
        assert.equal(shape.error(reply).code, 6);
      });

      it('an unknown field is refused by name', async () => {
        const parameters = { userTagName: `${label} y`, userIds: [], userTagColour: 'red' };
        await assert.rejects(root.submit('createUserTag', parameters), (error) => {
          refused(3)(error);
          assert.match(error.message, /userTagColour/);
          return true;
        });
      });

      it('unknown ids are not found', async () => {
        const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057';
        await assert.rejects(root.query('getUser', { userId: unknownId }), refused(5));
        await assert.rejects(root.query('getActivity', { activityId: unknownId }), refused(5));
      });
    });
  }

  it('createActivityPoller', async () => {
    const [http] = flavours;
    const { client, envelope } = http.connect(dev, { apiPublicKey: dev.apiPublicKey, apiPrivateKey: dev.apiPrivateKey });
    const poll = createActivityPoller({ client, requestFn: client.createUserTag });
    const activity = await poll(envelope('createUserTag', { userTagName: 'polled', userIds: [] }));
    const { userTagId } = completed(activity, 'createUserTag', dev);
    const { userTags } = await client.listUserTags({ organizationId: dev.organizationId });
    assert.equal(userTags.find((t) => t.tagId === userTagId).tagName, 'polled');
  });
});
