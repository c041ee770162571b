// The calls that the newest clients have: each once with every client, and what
// they are answered. What is refused, and what must hold, is tested in Go.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { decryptSecretBundle, encryptSecretToBundle, encryptWalletToBundle, generateP256KeyPair } from '@turnkey/crypto';

import { flavours, newKey } from '../lib/clients.mjs';
import { Passkey } from '../lib/passkey.mjs';
import { through } from '../lib/record.mjs';
import { storeName, useServer } from '../lib/server.mjs';
import { until } from '../lib/until.mjs';
import { connectUser, newUser } from '../lib/users.mjs';

// Of this phrase, as @ton/ton and the SDK of Spark derive them.
const phrase = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const newAddresses = [
  ['ED25519', 'TON_V5R1', "m/44'/607'/0'/0'/0'", 'EQDirP22rbgIZLzppawr2lJt42Xf3P9uJJtnbK-CnlqgiVyO'],
  ['SECP256K1', 'SPARK_MAINNET', "m/8797555'/0'/0'", 'spark1pgssy6vty7krpze82ecm8j39gd35v35aqjjmhftc4culawsavkyh564uc6zmqs'],
  ['SECP256K1', 'SPARK_REGTEST', "m/8797555'/0'/0'", 'sparkrt1pgssy6vty7krpze82ecm8j39gd35v35aqjjmhftc4culawsavkyh564u2uv8v0'],
];
// BIP-340 by the identity key of Spark, as @noble/curves signs.
const digest = '07'.repeat(32);
const schnorr =
  '0c820895132f33f95e80103a06394c17370413798c57ac7b39a7e2a15ec309d82e4393937dd116f8690de29c380c4d1243cbbdf072516dcd09537ec9d815c60e';

describe(`the newest calls on ${storeName}`, () => {
  const held = useServer();

  for (const flavour of flavours) {
    describe(flavour.name, () => {
      const { label } = flavour;
      let root;

      before(() => {
        root = connectUser(flavour, held.dev, held.rootKey, held.dev.userId);
      });

      it('addresses of TON V5R1 and Spark', async () => {
        const own = { userId: held.dev.userId, organizationId: held.dev.organizationId, dangerouslyOverrideSignerPublicKey: held.dev.signerPublicKey };
        const { importBundle } = await root.run('initImportWallet', { userId: held.dev.userId });
        const encryptedBundle = await encryptWalletToBundle({ mnemonic: phrase, importBundle, ...own });
        const accounts = newAddresses.map(([curve, format, path]) => ({
          curve: `CURVE_${curve}`,
          pathFormat: 'PATH_FORMAT_BIP32',
          path,
          addressFormat: `ADDRESS_FORMAT_${format}`,
        }));
        const { walletId, addresses } = await root.run('importWallet', {
          userId: held.dev.userId,
          walletName: `${label} newest`,
          encryptedBundle,
          accounts,
        });
        assert.deepEqual(
          addresses,
          newAddresses.map(([, , , address]) => address),
        );
        const { r, s, v } = await root.run('signRawPayload', {
          signWith: addresses[1],
          payload: digest,
          encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
          hashFunction: 'HASH_FUNCTION_NO_OP',
        });
        assert.deepEqual([r + s, v], [schnorr, '00']);
        await root.run('deleteWallets', { walletIds: [walletId], deleteWithoutExport: true });
      });

      // The others have no calls for these.
      if (flavour.name === '@turnkey/http') {
        it('users with API keys only', async () => {
          const key = newKey();
          const { userIds } = await root.run('createApiOnlyUsers', {
            apiOnlyUsers: [
              {
                userName: `${label} robot`,
                userTags: [],
                apiKeys: [{ apiKeyName: 'key', publicKey: key.apiPublicKey }],
              },
            ],
          });
          const robot = connectUser(flavour, held.dev, key);
          assert.equal((await robot.query('getWhoami')).userId, userIds[0]);
        });

        it('limits over time', async () => {
          const control = {
            name: `${label} signatures a day`,
            identifier: `${label.replace(/\W/g, '_')}_daily`,
            dataSource: { activityExecution: { filter: { activity: [{ activityType: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' }] } } },
            aggregation: {
              method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT',
              operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
              threshold: '100',
              window: { rolling: { duration: '86400' } },
              groupBy: { user: {} },
            },
          };
          const { velocityControlId } = await root.run('createVelocityControl', control);
          const { velocityControl } = await root.query('getVelocityControl', { velocityControlId });
          const { createdAt, updatedAt, ...shown } = velocityControl;
          assert.deepEqual(shown, { ...control, velocityControlId, organizationId: held.dev.organizationId });
          assert.deepEqual(createdAt, updatedAt);
          const { velocityControls, pageInfo } = await root.query('listVelocityControls', { paginationOptions: { limit: '1' } });
          assert.deepEqual(velocityControls, [velocityControl]);
          assert.equal(pageInfo.endCursor, velocityControlId);
          assert.deepEqual(await root.run('deleteVelocityControl', { velocityControlId }), { velocityControlId });
        });

        it('the organization as a whole, and which policies are active', async () => {
          const { policyId } = await root.run('createPolicy', {
            policyName: `${label} timed`,
            effect: 'EFFECT_DENY',
            condition: "activity.action == 'EXPORT'",
            notes: '',
            time: "time.now < Timestamp('2020-01-01T00:00:00Z')",
          });
          const { statuses, evaluatedAtMs } = await root.query('getActivePolicies');
          const status = statuses.find((one) => one.policyId === policyId);
          assert.deepEqual(status, {
            organizationId: held.dev.organizationId,
            policyId,
            active: false,
            timeExpr: "time.now < Timestamp('2020-01-01T00:00:00Z')",
          });
          assert.match(evaluatedAtMs, /^\d{13}$/);
          const { organizationData } = await root.query('getOrganization');
          assert.equal(organizationData.organizationId, held.dev.organizationId);
          assert.ok(organizationData.policies.some((one) => one.policyId === policyId));
          assert.ok(organizationData.users.some((one) => one.userId === held.dev.userId));
          await root.run('deletePolicy', { policyId });
        });
      }

      it('secrets, in and out', async () => {
        const whole = connectUser(flavours[0], held.dev, held.rootKey); // the others cannot begin an import, nor delete
        const crypto = (method, parameters, who = root) => through('@turnkey/crypto', () => who.run(method, parameters));
        const own = { organizationId: held.dev.organizationId, dangerouslyOverrideSignerPublicKey: held.dev.signerPublicKey };
        const encryptionSuite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
        const texts = ['4242 4242 4242 4242', 'correct horse battery staple'];
        const { enclaveTargetMessages } = await crypto('initImportSecrets', { encryptionSuite, numSecrets: texts.length }, whole);
        const secrets = await Promise.all(
          texts.map(async (plaintext, i) => ({
            ...(await encryptSecretToBundle({ plaintext, ingressTargetBundle: enclaveTargetMessages[i], ...own })),
            encryptionSuite,
            name: `${label} ${i}`,
            staticProperties: [{ key: 'kind', value: 'creditCard' }],
          })),
        );
        const { secretIds } = await crypto('importSecrets', { secrets });
        const listed = (await root.query('listSecrets', { paginationOptions: { limit: '2' } })).secrets;
        assert.deepEqual(
          listed.map(({ secretId, name, staticProperties }) => ({ secretId, name, staticProperties })),
          secretIds.map((secretId, i) => ({ secretId, name: `${label} ${i}`, staticProperties: secrets[i].staticProperties })).reverse(),
        );
        const { publicKeyUncompressed: targetPublicKey, privateKey: embeddedPrivateKey } = generateP256KeyPair();
        const { secretPayloads } = await crypto('exportSecrets', {
          secrets: secretIds.map((secretId) => ({ secretId, targetPublicKey, encryptionSuite })),
        });
        const opened = secretPayloads.map((secretPayload) => decryptSecretBundle({ secretPayload, embeddedPrivateKey, ...own }));
        assert.deepEqual(await Promise.all(opened), texts);
        assert.deepEqual(await whole.run('deleteSecrets', { secretIds }), { secretIds });
        assert.deepEqual((await root.query('listSecrets')).secrets, []);
      });

      it('from where requests are answered', async () => {
        const robot = newKey();
        await root.run('createUsers', { users: [newUser(`${label} guest`, robot)] });
        const guest = connectUser(flavour, held.dev, robot);
        const local = [{ cidr: '127.0.0.1/8', label: 'this machine' }];
        await root.run('setIpAllowlist', { publicKey: robot.apiPublicKey, rules: [{ cidr: '192.0.2.0/24' }] });
        await guest.query('getWhoami');
        await root.run('setIpAllowlist', { enabled: true, rules: local, onEvaluationError: 'DENY' });
        try {
          await assert.rejects(guest.query('getWhoami'), /does not let in requests of this credential from 127\.0\.0\.1/);
          const { allowlist } = await root.query('getIpAllowlist');
          assert.equal(allowlist.enabled, true);
          assert.deepEqual(
            allowlist.rules.map(({ cidr, label: of }) => ({ cidr, of })),
            [{ cidr: '127.0.0.0/8', of: 'this machine' }],
          );
        } finally {
          await root.run('removeIpAllowlist', {});
        }
        await guest.query('getWhoami');
        await root.run('removeIpAllowlist', { publicKey: robot.apiPublicKey });
      });

      it('sessions that are limited by a profile', async () => {
        const scope = "activity.action == 'SIGN'";
        const { sessionProfileId } = await root.run('createSessionProfile', {
          sessionProfileName: `${label} signing`,
          scope,
          expirationSeconds: '600',
          notes: 'for pages',
        });
        const { sessionProfile } = await root.query('getSessionProfile', { sessionProfileId });
        assert.equal(sessionProfile.scope, scope);
        const { sessionProfiles } = await root.query('getSessionProfiles');
        assert.ok(sessionProfiles.some((one) => one.sessionProfileId === sessionProfileId));

        const key = newKey();
        const { session } = await root.run('stampLogin', { publicKey: key.apiPublicKey, sessionProfileId });
        const claims = JSON.parse(atob(session.split('.')[1]));
        assert.deepEqual(
          [claims.session_type, claims.session_profile_id, claims.scope],
          [`${label} signing`, sessionProfileId, scope],
        );
        const limited = connectUser(flavour, held.dev, key);
        await limited.query('getWhoami');
        const tag = { userTagName: `${label} out of scope`, userIds: [] };
        await assert.rejects(limited.run('createUserTag', tag), /scope of the session profile/);
      });

      it('invitations', async () => {
        const { invitationIds } = await root.run('createInvitations', {
          invitations: [
            {
              receiverUserName: `${label} invited`,
              receiverUserEmail: `${label.replaceAll(' ', '.')}.invited@example.com`,
              receiverUserTags: [],
              accessType: 'ACCESS_TYPE_ALL',
              senderUserId: held.dev.userId,
            },
          ],
        });
        const users = async () => (await root.query('getUsers')).users.map((user) => user.userName);
        assert.ok((await users()).includes(`${label} invited`));
        const [invitationId] = invitationIds;
        assert.deepEqual(await root.run('deleteInvitation', { invitationId }), { invitationId });
        assert.ok(!(await users()).includes(`${label} invited`));
      });

      it('multi-factor policies', async () => {
        const key = newKey();
        const passkey = new Passkey();
        const { userIds } = await root.run('createUsers', {
          users: [{ ...newUser(`${label} factors`, key), authenticators: [passkey.register('passkey')] }],
        });
        const [userId] = userIds;
        const user = connectUser(flavour, held.dev, key, userId);
        const byPasskey = connectUser(flavours[0], held.dev, passkey, userId);
        const step = (...types) => ({ any: types.map((type) => ({ type: `AUTHENTICATION_TYPE_${type}` })) });
        const policy = {
          userId,
          mfaPolicyName: 'both',
          condition: "activity.resource == 'CREDENTIAL'",
          requiredAuthenticationMethods: [step('PASSKEY'), step('API_KEY', 'SESSION')],
          order: 0,
        };
        const { mfaPolicyId } = await user.run('createMfaPolicy', policy);
        await root.run('updateMfaPolicy', { userId, mfaPolicyId, order: 1, notes: 'why' });
        const { mfaPolicy } = await user.query('getMfaPolicy', { userId, mfaPolicyId });
        const { createdAt, updatedAt, ...shown } = mfaPolicy;
        const { userId: of, ...written } = policy;
        assert.deepEqual([shown, of], [{ ...written, mfaPolicyId, order: 1, notes: 'why' }, userId]);
        assert.ok(createdAt.seconds <= updatedAt.seconds);
        assert.deepEqual((await user.query('getMfaPolicies', { userId })).mfaPolicies, [mfaPolicy]);

        const added = { userId, apiKeys: [{ apiKeyName: 'new', publicKey: newKey().apiPublicKey, curveType: 'API_KEY_CURVE_P256' }] };
        const waits = await user.client.submit('createApiKeys', added);
        assert.equal(waits.status, 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
        const status = async () => (await user.query('getMfaStatus', { activityId: waits.id })).mfaStatuses;
        const [before] = await status();
        assert.deepEqual(
          [before.mfaPolicyId, before.userId, before.satisfied, before.satisfiedMethods.map((one) => one.type)],
          [mfaPolicyId, userId, false, ['AUTHENTICATION_TYPE_API_KEY']],
        );
        assert.deepEqual(before.requiredMethods, policy.requiredAuthenticationMethods);
        const done = await byPasskey.client.submit('approveActivity', { fingerprint: waits.fingerprint });
        assert.equal(done.status, 'ACTIVITY_STATUS_COMPLETED');
        assert.equal((await status())[0].satisfied, true);
        await root.run('deleteMfaPolicy', { userId, mfaPolicyId });
      });

      it('what happened to a mail', async () => {
        const contact = `${label.replaceAll(' ', '.')}@example.com`;
        await root.run('initOtp', { otpType: 'OTP_TYPE_EMAIL', contact, appName: 'Test' });
        const events = await until(
          () => 'the delivery',
          async () => {
            const { emailEvents } = await root.query('listEmailEvents', { email: contact });
            return emailEvents.length === 2 && emailEvents;
          },
        );
        assert.deepEqual(
          events.map(({ eventType, toAddress }) => [eventType, toAddress]),
          [
            ['Delivery', contact],
            ['Send', contact],
          ],
        );
        assert.equal(events[0].messageId, events[1].messageId);
      });
    });
  }
});
