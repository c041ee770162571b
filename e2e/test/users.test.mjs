// Users and their credentials: API keys on three curves, passkeys, wallets that
// stamp, tags, and the features of an organization.
import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { before, describe, it } from 'node:test';

import { Keypair } from '@solana/web3.js';
import { WalletStamper, WalletType } from '@turnkey/wallet-stamper';
import * as ethers from 'ethers';

import { flavours, newKey, send } from '../lib/clients.mjs';
import { Passkey } from '../lib/passkey.mjs';
import { through } from '../lib/record.mjs';
import { storeName, useServer } from '../lib/server.mjs';
import { shape } from '../lib/shapes.mjs';
import { apiKey, connectUser, createOrganization, createUsers, newUser, refusal, refuses } from '../lib/users.mjs';

const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057';

// Wallets as a browser extension would offer them.
function ethereumWallet() {
  const wallet = ethers.Wallet.createRandom();
  return {
    publicKey: wallet.signingKey.compressedPublicKey.slice(2),
    stamper: new WalletStamper({ type: WalletType.Ethereum, signMessage: (message) => wallet.signMessage(message) }),
  };
}

function solanaWallet() {
  const { secretKey } = Keypair.generate();
  const seed = Buffer.from(secretKey.subarray(0, 32));
  // The fixed head of a PKCS #8 key of Ed25519 (RFC 8410).
  const key = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x, 'base64url').toString('hex');
  return {
    publicKey,
    stamper: new WalletStamper({
      type: WalletType.Solana,
      signMessage: async (message) => sign(null, Buffer.from(message), key).toString('hex'),
      getPublicKey: async () => publicKey,
    }),
  };
}

describe(`users on ${storeName}`, () => {
  const held = useServer();

  for (const flavour of flavours) {
    describe(flavour.name, () => {
      const { label } = flavour;
      let dev; // an organization of this client's own
      let root;

      const getUser = async (userId) => shape.user((await root.query('getUser', { userId })).user);
      const whoIs = async (stamper) => (await flavour.connect(dev, stamper).query('getWhoami')).userId;
      const unknown = refusal(flavour, 16);

      before(async () => {
        [dev, root] = await createOrganization({ ...held, flavour }, `${label} users`, ['Root']);
      });

      it('create_users with everything that a user can have', async () => {
        const p256 = newKey();
        const ethereum = ethereumWallet();
        const solana = solanaWallet();
        const passkey = new Passkey();
        const { userTagId } = await root.run('createUserTag', { userTagName: 'all', userIds: [] });
        const parameters = {
          users: [
            {
              userName: 'Ada',
              userEmail: 'ada@example.com',
              userPhoneNumber: '+14155550100',
              apiKeys: [
                apiKey('p256', p256, { expirationSeconds: '3600' }),
                { apiKeyName: 'ethereum', publicKey: ethereum.publicKey, curveType: 'API_KEY_CURVE_SECP256K1' },
                { apiKeyName: 'solana', publicKey: solana.publicKey, curveType: 'API_KEY_CURVE_ED25519' },
              ],
              authenticators: [passkey.register('passkey')],
              oauthProviders: [],
              userTags: [userTagId],
            },
            newUser('Ben', newKey()),
          ],
        };
        const activity = shape.activity(await root.client.submit('createUsers', parameters));
        assert.equal(activity.status, 'ACTIVITY_STATUS_COMPLETED');
        assert.deepEqual(activity.intent.createUsersIntentV4, parameters);
        const { userIds } = activity.result.createUsersResult;
        assert.equal(userIds.length, 2);
        const ada = await getUser(userIds[0]);
        assert.equal(ada.userPhoneNumber, '+14155550100');
        assert.deepEqual(ada.userTags, [userTagId]);
        assert.deepEqual(
          ada.apiKeys.map((k) => [k.apiKeyName, k.credential.type, k.expirationSeconds]),
          [
            ['p256', 'CREDENTIAL_TYPE_API_KEY_P256', '3600'],
            ['ethereum', 'CREDENTIAL_TYPE_API_KEY_SECP256K1', undefined],
            ['solana', 'CREDENTIAL_TYPE_API_KEY_ED25519', undefined],
          ],
        );
        const [authenticator] = ada.authenticators;
        assert.equal(authenticator.credentialId, passkey.credentialId);
        assert.equal(authenticator.credential.type, 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR');
        assert.equal(authenticator.attestationType, 'none');
        assert.deepEqual(authenticator.transports, ['AUTHENTICATOR_TRANSPORT_INTERNAL']);

        // Each of them is Ada.
        for (const key of [p256, passkey]) assert.equal(await whoIs(key), userIds[0]);
        await through('@turnkey/wallet-stamper', async () => {
          for (const { stamper } of [ethereum, solana]) {
            const client = connectUser(flavour, dev, stamper, userIds[0]);
            assert.equal((await client.query('getWhoami')).userId, userIds[0]);
            // Often, because one stamp in 170 is encoded in an unusual way.
            for (let i = 0; i < 20; i++) await client.query('getWhoami');
            const { apiKeyIds } = await client.run('createApiKeys', { userId: userIds[0], apiKeys: [apiKey('made', newKey())] });
            assert.deepEqual(await client.run('deleteApiKeys', { userId: userIds[0], apiKeyIds }), { apiKeyIds });
          }
        });
        // A stamp is valid for its body only.
        const request = await flavour.connect(dev, passkey).sign('getWhoami');
        const { status, reply } = await send({ ...request, body: `${request.body} ` });
        assert.equal(status, 401);
        assert.equal(shape.error(reply).code, 16);
        await assert.rejects(whoIs(new Passkey()), unknown);
        await assert.rejects(whoIs(ethereumWallet().stamper), unknown);

        // Names that are taken, and invalid values.
        const create = (user) => ({ users: [{ ...newUser('Eve', newKey()), ...user }] });
        await refuses(flavour, root, 6, 'createUsers', create({ userName: 'Ada' }));
        await refuses(flavour, root, 6, 'createUsers', create({ apiKeys: [apiKey('hers', p256)] }));
        await refuses(flavour, root, 6, 'createUsers', create({ authenticators: [passkey.register('again')] }));
        for (const user of [
          { userEmail: 'not an address' },
          { userPhoneNumber: '12' },
          { userEmail: '' },
          { userTags: [unknownId] },
          { apiKeys: [apiKey('x', { apiPublicKey: `02${'ff'.repeat(32)}` })] },
          { apiKeys: [apiKey('x', newKey(), { expirationSeconds: '0' })] },
          { authenticators: [{ ...new Passkey().register('x'), challenge: 'AAAA' }] },
          { apiKeys: [] },
        ]) {
          const { status: got } = await send(await root.client.sign('createUsers', create(user)));
          assert.ok(got === 400 || got === 404, `${JSON.stringify(user)} got ${got}`);
        }
        assert.equal((await root.query('getUsers')).users.length, 3);
      });

      it('update a user', async () => {
        const [carl] = await createUsers(flavour, dev, root, 'Carl');
        const { userId } = carl;
        const { userTagId } = await root.run('createUserTag', { userTagName: 'updated', userIds: [] });
        const update = {
          userId,
          userName: 'Karl',
          userEmail: 'karl@example.com',
          userTagIds: [userTagId],
          userPhoneNumber: '+14155550101',
        };
        assert.deepEqual(await root.run('updateUser', update), { userId });
        let user = await getUser(userId);
        assert.deepEqual(
          [user.userName, user.userEmail, user.userPhoneNumber, user.userTags],
          ['Karl', 'karl@example.com', '+14155550101', [userTagId]],
        );
        // What is left out stays.
        assert.deepEqual(await root.run('updateUser', { userId, userName: 'Charles' }), { userId });
        assert.deepEqual(await root.run('updateUserName', { userId, userName: 'Carl the Great' }), { userId });
        assert.deepEqual(await root.run('updateUserEmail', { userId, userEmail: 'great@example.com' }), { userId });
        assert.deepEqual(await root.run('updateUserPhoneNumber', { userId, userPhoneNumber: '+14155550102' }), { userId });
        user = await getUser(userId);
        assert.deepEqual(
          [user.userName, user.userEmail, user.userPhoneNumber, user.userTags],
          ['Carl the Great', 'great@example.com', '+14155550102', [userTagId]],
        );
        await refuses(flavour, root, 3, 'updateUserEmail', { userId, userEmail: 'great' });
        await refuses(flavour, root, 3, 'updateUserPhoneNumber', { userId, userPhoneNumber: '0' });
        await refuses(flavour, root, 5, 'updateUserName', { userId: unknownId, userName: 'x' });
        // Without a policy, not even one's own.
        await refuses(flavour, carl, 7, 'updateUserName', { userId, userName: 'King' });
        await refuses(flavour, carl, 7, 'updateUser', { userId: root.userId, userEmail: 'carl@example.com' });
      });

      it('tags, all or none', async () => {
        const [dora, emil] = await createUsers(flavour, dev, root, 'Dora', 'Emil');
        const tagsOf = async (user) => (await getUser(user.userId)).userTags;
        const { userTagId } = await root.run('createUserTag', { userTagName: 'crew', userIds: [dora.userId] });
        const update = { userTagId, newUserTagName: 'team', addUserIds: [emil.userId], removeUserIds: [dora.userId] };
        await refuses(flavour, root, 5, 'updateUserTag', { ...update, addUserIds: [emil.userId, unknownId] });
        assert.deepEqual([await tagsOf(dora), await tagsOf(emil)], [[userTagId], []]);
        assert.deepEqual(await root.run('updateUserTag', update), { userTagId });
        assert.deepEqual([await tagsOf(dora), await tagsOf(emil)], [[], [userTagId]]);
        await refuses(flavour, dora, 7, 'updateUserTag', { userTagId, addUserIds: [dora.userId], removeUserIds: [] });
        const deleted = await root.run('deleteUserTags', { userTagIds: [userTagId] });
        assert.deepEqual(deleted, { userTagIds: [userTagId], userIds: [emil.userId] });
        assert.deepEqual(await tagsOf(emil), []);
        assert.ok(!(await root.query('listUserTags')).userTags.some((t) => t.tagId === userTagId));
        await refuses(flavour, root, 5, 'deleteUserTags', { userTagIds: [userTagId] });
      });

      it('own API keys and passkeys', async () => {
        const [fay] = await createUsers(flavour, dev, root, 'Fay');
        const { userId } = fay;
        const second = newKey();
        const { apiKeyIds } = await fay.run('createApiKeys', { userId, apiKeys: [apiKey('second', second)] });
        const { apiKey: stored } = await fay.query('getApiKey', { apiKeyId: apiKeyIds[0] });
        shape.apiKey(stored);
        assert.equal(stored.credential.publicKey, second.apiPublicKey);
        await assert.rejects(fay.query('getApiKey', { apiKeyId: unknownId }), refusal(flavour, 5));

        const [one, two] = [new Passkey(), new Passkey()];
        const { authenticatorIds } = await fay.run('createAuthenticators', {
          userId,
          authenticators: [one.register('one'), two.register('two')],
        });
        assert.equal(authenticatorIds.length, 2);
        const { authenticators } = await fay.query('getAuthenticators', { userId });
        authenticators.forEach(shape.authenticator);
        assert.deepEqual(
          authenticators.map((a) => [a.authenticatorId, a.authenticatorName, a.credentialId]),
          [
            [authenticatorIds[0], 'one', one.credentialId],
            [authenticatorIds[1], 'two', two.credentialId],
          ],
        );
        const { authenticator } = await fay.query('getAuthenticator', { authenticatorId: authenticatorIds[1] });
        assert.deepEqual(authenticator, authenticators[1]);

        // The passkey does what its owner may, and its votes say so.
        const byPasskey = connectUser(flavour, dev, one, userId);
        await byPasskey.run('deleteApiKeys', { userId, apiKeyIds });
        const { activities } = await fay.query('getActivities', { paginationOptions: { limit: '1' } });
        assert.equal(shape.activity(activities[0]).votes[0].scheme, 'SIGNATURE_SCHEME_TK_WEBAUTHN');
        assert.equal(activities[0].votes[0].publicKey, authenticators[0].credential.publicKey);
        await assert.rejects(whoIs(second), unknown);

        // A counter that goes backwards is a copy of the passkey.
        one.counter = 7;
        assert.equal(await whoIs(one), userId);
        one.counter = 6;
        await assert.rejects(whoIs(one), unknown);
        one.counter = 8;
        assert.equal(await whoIs(one), userId);

        const gone = await fay.run('deleteAuthenticators', { userId, authenticatorIds: [authenticatorIds[1]] });
        assert.deepEqual(gone, { authenticatorIds: [authenticatorIds[1]] });
        await assert.rejects(whoIs(two), unknown);
        // Not the last one.
        const [key] = (await fay.query('getApiKeys', { userId })).apiKeys;
        await byPasskey.run('deleteApiKeys', { userId, apiKeyIds: [key.apiKeyId] });
        await refuses(
          flavour,
          byPasskey,
          3,
          'deleteAuthenticators',
          { userId, authenticatorIds: [authenticatorIds[0]] },
          /user missing valid credential/,
        );
        // Nor those of others.
        const [gil] = await createUsers(flavour, dev, root, 'Gil');
        await refuses(flavour, gil, 7, 'deleteAuthenticators', { userId, authenticatorIds: [authenticatorIds[0]] });
        await refuses(flavour, gil, 7, 'createAuthenticators', { userId, authenticators: [new Passkey().register('x')] });
      });

      it('a passkey from a page that is not allowed', async () => {
        const [hal] = await createUsers(flavour, dev, root, 'Hal');
        const create = (passkey) => ({
          userId: hal.userId,
          authenticators: [passkey.register(`key ${passkey.origin} ${Math.random()}`)],
        });
        const [home, away] = [
          new Passkey({ origin: 'https://app.example.com' }),
          new Passkey({ origin: 'https://evil.example' }),
        ];
        await hal.run('createAuthenticators', create(home));
        await hal.run('createAuthenticators', create(away));
        assert.equal(await whoIs(away), hal.userId);
        const feature = { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value: 'https://app.example.com' };
        const { features } = await root.run('setOrganizationFeature', feature);
        assert.deepEqual(
          features.find((f) => f.name === feature.name),
          feature,
        );
        assert.equal(await whoIs(home), hal.userId);
        await assert.rejects(whoIs(away), unknown);
        const { status } = await send(
          await hal.client.sign('createAuthenticators', create(new Passkey({ origin: 'https://evil.example' }))),
        );
        assert.ok(status === 400 || status === 401, `${status}`);
        await root.run('removeOrganizationFeature', { name: feature.name });
        assert.equal(await whoIs(away), hal.userId);
      });

      it('delete_users', async () => {
        const [ida, jon] = await createUsers(flavour, dev, root, 'Ida', 'Jon');
        await refuses(flavour, ida, 7, 'deleteUsers', { userIds: [jon.userId] });
        await refuses(flavour, root, 5, 'deleteUsers', { userIds: [ida.userId, unknownId] });
        assert.equal(await whoIs(ida.key), ida.userId);
        assert.deepEqual(await root.run('deleteUsers', { userIds: [ida.userId] }), { userIds: [ida.userId] });
        await assert.rejects(whoIs(ida.key), unknown);
        await assert.rejects(getUser(ida.userId), refusal(flavour, 5));
        await refuses(flavour, root, 3, 'deleteUsers', { userIds: [root.userId] }, /quorum/);
      });

      it('features of the organization', async () => {
        const features = async () => (await root.query('getOrganizationConfigs')).configs.features.map((f) => f.name).sort();
        const initial = [
          'FEATURE_NAME_EMAIL_AUTH',
          'FEATURE_NAME_EMAIL_RECOVERY',
          'FEATURE_NAME_OTP_EMAIL_AUTH',
          'FEATURE_NAME_SMS_AUTH',
        ];
        assert.deepEqual(await features(), initial);
        const removed = await root.run('removeOrganizationFeature', { name: 'FEATURE_NAME_SMS_AUTH' });
        assert.deepEqual(removed.features.map((f) => f.name).sort(), initial.slice(0, 3));
        assert.deepEqual(await features(), initial.slice(0, 3));
        // What is not set is gone already.
        await root.run('removeOrganizationFeature', { name: 'FEATURE_NAME_SMS_AUTH' });
        const set = await root.run('setOrganizationFeature', { name: 'FEATURE_NAME_SMS_AUTH', value: '' });
        assert.deepEqual(set.features.map((f) => f.name).sort(), initial);
        await refuses(flavour, root, 3, 'removeOrganizationFeature', { name: 'FEATURE_NAME_NONE' });
        const [kim] = await createUsers(flavour, dev, root, 'Kim');
        await refuses(flavour, kim, 7, 'removeOrganizationFeature', { name: 'FEATURE_NAME_SMS_AUTH' });
        assert.deepEqual(await features(), initial);
      });

      it('update_organization_name', async () => {
        const organizationName = `${label} renamed`;
        const { organizationId } = dev;
        assert.deepEqual(await root.run('updateOrganizationName', { organizationName }), { organizationId, organizationName });
        assert.equal((await root.query('getWhoami')).organizationName, organizationName);
      });
    });
  }

  it('the first versions, for old clients', async () => {
    const [http] = flavours;
    const [dev, root] = await createOrganization({ ...held, flavour: http }, 'old users', ['Root']);
    const as = async (method, type, parameters) => {
      const activity = shape.activity(await root.client.submit(method, parameters, `ACTIVITY_TYPE_${type}`));
      assert.equal(activity.status, 'ACTIVITY_STATUS_COMPLETED');
      return activity.result;
    };
    // Version 1 has attestations as a browser gives them, in which a member of
    // the response has the raw id once more.
    const first = (name, passkey) => {
      const { challenge, attestation } = passkey.register(name);
      const { credentialId, clientDataJson, attestationObject } = attestation;
      return {
        authenticatorName: name,
        userId: root.userId,
        challenge,
        attestation: {
          id: credentialId,
          type: 'public-key',
          rawId: credentialId,
          response: { clientDataJson, attestationObject },
          clientExtensionResults: {},
        },
      };
    };
    const [one, two, three, four] = Array.from({ length: 4 }, () => new Passkey());
    const keys = Array.from({ length: 4 }, newKey);
    const old = (name, key) => ({ apiKeyName: name, publicKey: key.apiPublicKey });
    const created = [
      await as('createUsers', 'CREATE_USERS', {
        users: [
          {
            userName: 'v1',
            accessType: 'ACCESS_TYPE_ALL',
            apiKeys: [old('v1', keys[0])],
            authenticators: [first('v1', one)],
            userTags: [],
          },
        ],
      }),
      await as('createUsers', 'CREATE_USERS_V2', {
        users: [{ userName: 'v2', apiKeys: [old('v2', keys[1])], authenticators: [two.register('v2')], userTags: [] }],
      }),
      await as('createUsers', 'CREATE_USERS_V3', {
        users: [{ userName: 'v3', apiKeys: [apiKey('v3', keys[2])], authenticators: [], oauthProviders: [], userTags: [] }],
      }),
    ].map((result) => result.createUsersResult.userIds[0]);
    const who = async (key) => (await http.connect(dev, key).query('getWhoami')).userId;
    assert.deepEqual([await who(keys[0]), await who(keys[1]), await who(keys[2])], created);
    assert.deepEqual([await who(one), await who(two)], created.slice(0, 2));

    await as('createApiKeys', 'CREATE_API_KEYS', { userId: root.userId, apiKeys: [old('old', keys[3])] });
    assert.equal(await who(keys[3]), root.userId);
    await as('createAuthenticators', 'CREATE_AUTHENTICATORS', { userId: root.userId, authenticators: [first('old', three)] });
    assert.equal(await who(three), root.userId);
    await as('createAuthenticators', 'CREATE_AUTHENTICATORS_V2', { userId: root.userId, authenticators: [four.register('new')] });
    assert.equal(await who(four), root.userId);
  });
});
