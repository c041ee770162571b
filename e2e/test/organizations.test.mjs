// Sub-organizations: how they are created and found, what their parent may not
// do, and in which of them a stamp acts.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { ApiKeyStamper, SignatureFormat } from '@turnkey/api-key-stamper';
import { getClientSignatureMessageForSignup } from '@turnkey/core';
import { encryptOtpCodeToBundle, generateP256KeyPair, verifySessionJwtSignature } from '@turnkey/crypto';

import { flavours, newKey } from '../lib/clients.mjs';
import { useIssuer } from '../lib/issuer.mjs';
import { message } from '../lib/outbox.mjs';
import { Passkey } from '../lib/passkey.mjs';
import { storeName, useServer } from '../lib/server.mjs';
import { shape } from '../lib/shapes.mjs';
import { apiKey, connectUser, createOrganization, refusal, refuses, rootUser } from '../lib/users.mjs';

const accounts = [
  {
    curve: 'CURVE_SECP256K1',
    pathFormat: 'PATH_FORMAT_BIP32',
    path: "m/44'/60'/0'/0/0",
    addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  },
];

describe(`organizations on ${storeName}`, () => {
  const held = useServer();
  const issuer = useIssuer();

  for (const flavour of flavours) {
    describe(flavour.name, () => {
      const { label } = flavour;
      const slug = label.replaceAll(' ', '.');
      let parent;
      // In the child, whatever the caller: what a client of the child sees.
      const inside = (child, key) => connectUser(flavour, { ...held.dev, organizationId: child }, key);
      const subOrgs = async (filterType, filterValue, paginationOptions) =>
        (await parent.query('getSubOrgIds', { filterType, filterValue, paginationOptions })).organizationIds;

      before(() => {
        parent = connectUser(flavour, held.dev, held.rootKey, held.dev.userId);
      });

      it('create_sub_organization with everything, and list_suborgs by each of it', async () => {
        const key = newKey();
        const passkey = new Passkey();
        const identity = { sub: `sub ${label}`, aud: `aud ${label}` };
        const email = `ada.${slug}@example.com`;
        const userPhoneNumber = `+1415555${2000 + flavours.indexOf(flavour)}`;
        const parameters = {
          subOrganizationName: `${label} full`,
          rootUsers: [
            rootUser(`Ada ${label}`, key, {
              userEmail: email,
              userPhoneNumber,
              authenticators: [passkey.register('passkey')],
              oauthProviders: [{ providerName: 'test', oidcToken: await issuer.mint(identity) }],
            }),
            rootUser(`Ben ${label}`, newKey()),
          ],
          rootQuorumThreshold: 2,
          wallet: { walletName: 'first', accounts },
          disableEmailAuth: true,
          disableSmsAuth: true,
        };
        const activity = shape.activity(await parent.client.submit('createSubOrganization', parameters));
        assert.equal(activity.organizationId, held.dev.organizationId);
        assert.deepEqual(activity.intent.createSubOrganizationIntentV8, parameters);
        const { subOrganizationId, rootUserIds, wallet } = activity.result.createSubOrganizationResultV8;
        assert.equal(rootUserIds.length, 2);
        assert.equal(wallet.addresses.length, 1);

        const ada = inside(subOrganizationId, key);
        assert.deepEqual(shape.whoami(await ada.query('getWhoami')), {
          organizationId: subOrganizationId,
          organizationName: `${label} full`,
          userId: rootUserIds[0],
          username: `Ada ${label}`,
        });
        const { configs } = await ada.query('getOrganizationConfigs');
        assert.deepEqual(shape.configs(configs) && configs.quorum, { threshold: 2, userIds: rootUserIds });
        assert.deepEqual(configs.features.map((f) => f.name).sort(), [
          'FEATURE_NAME_EMAIL_RECOVERY',
          'FEATURE_NAME_OTP_EMAIL_AUTH',
        ]);
        const { wallets } = await ada.query('getWallets');
        assert.deepEqual(
          wallets.map((w) => [shape.wallet(w).walletId, w.walletName]),
          [[wallet.walletId, 'first']],
        );

        for (const [filterType, filterValue] of [
          ['NAME', `${label} full`],
          ['USERNAME', `Ada ${label}`],
          ['EMAIL', email],
          ['EMAIL', email.toUpperCase()],
          ['PHONE_NUMBER', userPhoneNumber],
          ['CREDENTIAL_ID', passkey.credentialId],
          ['PUBLIC_KEY', key.apiPublicKey],
          ['OIDC_TOKEN', await issuer.mint(identity)],
          ['OIDC_CLAIMS', JSON.stringify({ iss: issuer.url, ...identity })],
          ['WALLET_ACCOUNT_ADDRESS', wallet.addresses[0]],
        ]) {
          assert.deepEqual(await subOrgs(filterType, filterValue), [subOrganizationId], filterType);
        }
        assert.deepEqual(await subOrgs('NAME', `${label} ful`), []);
        assert.deepEqual(await subOrgs('PUBLIC_KEY', newKey().apiPublicKey), []);
        for (const body of [{ filterType: 'NAME' }, { filterValue: 'x' }, { filterType: 'COLOUR', filterValue: 'red' }]) {
          await assert.rejects(parent.query('getSubOrgIds', body), refusal(flavour, 3));
        }
        // The address is not verified yet.
        const { organizationIds } = await parent.query('getVerifiedSubOrgIds', { filterType: 'EMAIL', filterValue: email });
        assert.deepEqual(organizationIds, []);

        // Invalid requests.
        const refused = (code, changed) => refuses(flavour, parent, code, 'createSubOrganization', { ...parameters, ...changed });
        await refused(3, { rootQuorumThreshold: 3 });
        await refused(3, { rootQuorumThreshold: 0 });
        await refused(3, { rootUsers: [] });
      });

      it('a signup that proves an address', async () => {
        const contact = `verified.${slug}@example.com`;
        const { otpId, otpEncryptionTargetBundle } = await parent.run('initOtp', {
          otpType: 'OTP_TYPE_EMAIL',
          contact,
          appName: 'Example App',
        });
        const key = newKey();
        const { code } = await message(held.place, contact);
        const encryptedOtpBundle = await encryptOtpCodeToBundle(
          code,
          otpEncryptionTargetBundle,
          key.apiPublicKey,
          held.dev.signerPublicKey,
        );
        // @turnkey/core leaves this step to a proxy.
        const verifier = connectUser(flavours[1], held.dev, held.rootKey);
        const { verificationToken } = await verifier.run('verifyOtp', { otpId, encryptedOtpBundle });
        const user = rootUser('Verified', key, { userEmail: contact });
        const sign = async (signup) => {
          const { message: text, publicKey } = getClientSignatureMessageForSignup({ verificationToken, ...signup });
          const signature = await new ApiKeyStamper(key).sign(text, SignatureFormat.Raw);
          return { publicKey, scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256', message: text, signature };
        };
        const parameters = {
          subOrganizationName: `${label} verified`,
          rootUsers: [user],
          rootQuorumThreshold: 1,
          verificationToken,
          clientSignature: await sign({ email: contact, apiKeys: user.apiKeys }),
        };
        // An attacker in between who inserts another key is refused.
        const swapped = [rootUser('Verified', newKey(), { userEmail: contact })];
        await refuses(flavour, parent, 3, 'createSubOrganization', { ...parameters, rootUsers: swapped });
        const { subOrganizationId } = await parent.run('createSubOrganization', parameters);
        const verified = async (filterType, filterValue) =>
          (await parent.query('getVerifiedSubOrgIds', { filterType, filterValue })).organizationIds;
        assert.deepEqual(await verified('EMAIL', contact), [subOrganizationId]);
        assert.deepEqual(await subOrgs('EMAIL', contact), [subOrganizationId]);
      });

      it('list_suborgs, page by page', async () => {
        for (let i = 0; i < 3; i++) await createOrganization({ ...held, flavour }, `${label} page ${i}`, ['Root']);
        const all = await subOrgs(undefined, undefined, { limit: '100' });
        assert.ok(all.length >= 4);
        assert.equal(new Set(all).size, all.length);
        assert.deepEqual(await subOrgs(undefined, undefined, { limit: '2' }), all.slice(0, 2));
        const walked = [];
        for (let after; ; after = walked.at(-1)) {
          const page = await subOrgs(undefined, undefined, { limit: '2', ...(after && { after }) });
          if (page.length === 0) break;
          walked.push(...page);
          assert.ok(walked.length <= all.length, 'paging does not end');
        }
        assert.deepEqual(walked, all);
        assert.deepEqual(await subOrgs(undefined, undefined, { limit: '2', before: all[3] }), all.slice(1, 3));
      });

      it('the parent reads, and does nothing else', async () => {
        const [child, owner] = await createOrganization({ ...held, flavour }, `${label} read`, ['Owner']);
        const above = inside(child.organizationId, held.rootKey);
        const { users } = await above.query('getUsers');
        assert.deepEqual(
          users.map((u) => shape.user(u).userId),
          [owner.userId],
        );
        assert.deepEqual((await above.query('getWallets')).wallets, []);
        const { activities } = await above.query('getActivities', {});
        assert.deepEqual(activities, (await owner.query('getActivities', {})).activities);
        for (const [method, parameters] of [
          ['createWallet', { walletName: 'theirs', accounts: [] }],
          ['createApiKeys', { userId: owner.userId, apiKeys: [apiKey('theirs', newKey())] }],
          ['updateRootQuorum', { threshold: 1, userIds: [held.dev.userId] }],
          ['deleteSubOrganization', { deleteWithoutExport: true }],
        ]) {
          const reply = await refuses(flavour, above, 3, method, parameters, /organization mismatch/);
          assert.equal(reply.turnkeyErrorCode, 'ORGANIZATION_MISMATCH');
        }
        // A sibling sees nothing at all.
        const [, stranger] = await createOrganization({ ...held, flavour }, `${label} sibling`, ['Stranger']);
        const outside = inside(child.organizationId, stranger.key);
        await assert.rejects(outside.query('getUsers'), refusal(flavour, 16));
        await assert.rejects(outside.client.submit('createWallet', { walletName: 'x', accounts: [] }), refusal(flavour, 16));
        // Nor does a child see its parent.
        await assert.rejects(inside(held.dev.organizationId, stranger.key).query('getUsers'), refusal(flavour, 16));
      });

      it('a stamp with the id of the parent acts in the child', async () => {
        const [child, owner] = await createOrganization({ ...held, flavour }, `${label} landing`, ['Owner']);
        const passkey = new Passkey();
        await owner.run('createAuthenticators', { userId: owner.userId, authenticators: [passkey.register('passkey')] });
        const target = generateP256KeyPair();
        for (const stamper of [owner.key, passkey]) {
          const above = flavour.connect(held.dev, stamper);
          const who = await above.query('getWhoami');
          assert.equal(who.organizationId, child.organizationId);
          assert.equal(who.userId, owner.userId);

          const session = newKey();
          const login = shape.activity(await above.submit('stampLogin', { publicKey: session.apiPublicKey }));
          assert.equal(login.organizationId, child.organizationId);
          assert.ok(await verifySessionJwtSignature(login.result.stampLoginResult.session, held.dev.sessionPublicKey));
          assert.equal((await inside(child.organizationId, session).query('getWhoami')).userId, owner.userId);

          const readOnly = await above.submit('createReadOnlySession', {});
          assert.equal(readOnly.result.createReadOnlySessionResult.organizationId, child.organizationId);
          const readWrite = await above.submit('createReadWriteSession', { targetPublicKey: target.publicKeyUncompressed });
          assert.equal(readWrite.result.createReadWriteSessionResultV2.userId, owner.userId);
          // Only for those: otherwise a client says where.
          await assert.rejects(above.query('getUsers'), refusal(flavour, 16));
          await assert.rejects(above.submit('createWallet', { walletName: 'x', accounts: [] }), refusal(flavour, 16));
        }
        // A key in two children is refused.
        await parent.run('createSubOrganization', {
          subOrganizationName: `${label} twin`,
          rootUsers: [rootUser('Twin', owner.key)],
          rootQuorumThreshold: 1,
        });
        await assert.rejects(
          flavour.connect(held.dev, owner.key).query('getWhoami'),
          refusal(flavour, 16, /more than one suborg associated with a public key/),
        );
        assert.equal((await owner.query('getWhoami')).organizationId, child.organizationId);
      });

      it('delete_sub_organization', async () => {
        const [child, owner, { wallet }] = await createOrganization({ ...held, flavour }, `${label} deleted`, ['Owner'], {
          wallet: { walletName: 'first', accounts },
        });
        const { organizationId } = child;
        await refuses(flavour, owner, 3, 'deleteSubOrganization', {}, /export/);
        const activity = shape.activity(await owner.client.submit('deleteSubOrganization', { deleteWithoutExport: true }));
        assert.equal(activity.status, 'ACTIVITY_STATUS_COMPLETED');
        assert.deepEqual(activity.result.deleteSubOrganizationResult, { subOrganizationUuid: organizationId });
        await assert.rejects(owner.query('getWhoami'), refusal(flavour, 16));
        await assert.rejects(flavour.connect(held.dev, owner.key).query('getWhoami'), refusal(flavour, 16));
        assert.deepEqual(await subOrgs('NAME', `${label} deleted`), []);
        assert.deepEqual(await subOrgs('WALLET_ACCOUNT_ADDRESS', wallet.addresses[0]), []);
        assert.ok(!(await subOrgs(undefined, undefined, { limit: '100' })).includes(organizationId));
      });

      it('a sub-organization has no sub-organizations', async () => {
        const [, owner] = await createOrganization({ ...held, flavour }, `${label} childless`, ['Owner']);
        const reply = await refuses(flavour, owner, 3, 'createSubOrganization', {
          subOrganizationName: 'grandchild',
          rootUsers: [rootUser('x', newKey())],
          rootQuorumThreshold: 1,
        });
        assert.equal(reply.turnkeyErrorCode, 'INVALID_ACTIVITY_CALLER');
      });
    });
  }

  it('the first versions, for old clients', async () => {
    const [http] = flavours;
    const parent = http.connect(held.dev, held.rootKey);
    const as = async (version, parameters) => {
      const type = `ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION${version > 1 ? `_V${version}` : ''}`;
      const activity = shape.activity(await parent.submit('createSubOrganization', parameters, type));
      assert.equal(activity.status, 'ACTIVITY_STATUS_COMPLETED');
      const intentKey = `createSubOrganizationIntent${version > 1 ? `V${version}` : ''}`;
      assert.deepEqual(activity.intent, { [intentKey]: parameters });
      return activity.result[`createSubOrganizationResult${version > 2 ? `V${version}` : ''}`];
    };
    const lands = async (stamper, { subOrganizationId }) => {
      const who = await http.connect(held.dev, stamper).query('getWhoami');
      assert.equal(who.organizationId, subOrganizationId);
    };
    const old = (key) => ({ apiKeyName: 'old', publicKey: key.apiPublicKey });
    const passkey = new Passkey();
    await lands(passkey, await as(1, { name: 'version 1', rootAuthenticator: passkey.register('old') }));
    for (const [version, user, more] of [
      [2, {}],
      [3, {}, { privateKeys: [] }],
      [4, {}],
      [5, { oauthProviders: [] }],
      [6, { oauthProviders: [] }],
      [7, { oauthProviders: [], userPhoneNumber: '+14155550199' }],
    ]) {
      const key = newKey();
      const apiKeys = [version >= 6 ? apiKey('old', key) : old(key)];
      const result = await as(version, {
        subOrganizationName: `version ${version}`,
        rootUsers: [{ userName: 'Root', apiKeys, authenticators: [], ...user }],
        rootQuorumThreshold: 1,
        ...(version >= 4 && { wallet: { walletName: 'first', accounts } }),
        ...more,
      });
      await lands(key, result);
      if (version >= 4) assert.equal(result.wallet.addresses.length, 1);
    }
  });
});
