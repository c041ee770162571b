// A page in Chromium: passkeys that the browser makes, and the clients that
// live in pages. The page calls the server itself, from another origin.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { encryptOtpCodeToBundle, verifySessionJwtSignature } from '@turnkey/crypto';
import * as ethers from 'ethers';

import { usePage } from '../lib/chromium.mjs';
import { flavours } from '../lib/clients.mjs';
import { nonce, useIssuer } from '../lib/issuer.mjs';
import { message } from '../lib/outbox.mjs';
import { storeName, useServer } from '../lib/server.mjs';
import { shape } from '../lib/shapes.mjs';
import { connectUser, createOrganization, createUsers } from '../lib/users.mjs';

const [http, sdkServer] = flavours;

describe(`browser on ${storeName}`, () => {
  const held = useServer();
  const issuer = useIssuer();
  const page = usePage();
  let dev; // an organization of the page's users
  let root;

  before(async () => {
    [dev, root] = await createOrganization({ ...held, flavour: http }, 'users of the page', ['Root']);
  });

  // In the page, with the browser's own interface and nothing else: a passkey
  // in the form of create_authenticators.
  const register = (authenticatorName, options) =>
    page.run(
      async (name, more) => {
        const text = (buffer) =>
          btoa(String.fromCharCode(...new Uint8Array(buffer)))
            .replaceAll('+', '-')
            .replaceAll('/', '_')
            .replaceAll('=', '');
        const challenge = crypto.getRandomValues(new Uint8Array(32));
        const credential = await navigator.credentials.create({
          publicKey: {
            challenge,
            rp: { id: 'localhost', name: 'Page' },
            user: { id: crypto.getRandomValues(new Uint8Array(16)), name, displayName: name },
            pubKeyCredParams: [
              { type: 'public-key', alg: -7 },
              { type: 'public-key', alg: -257 },
            ],
            ...more,
          },
        });
        return {
          authenticatorName: name,
          challenge: text(challenge),
          attestation: {
            credentialId: text(credential.rawId),
            clientDataJson: text(credential.response.clientDataJSON),
            attestationObject: text(credential.response.attestationObject),
            transports: credential.response.getTransports().map((t) => `AUTHENTICATOR_TRANSPORT_${t.toUpperCase()}`),
          },
        };
      },
      authenticatorName,
      options,
    );

  // The page asks who it is, with the passkey.
  const whoami = (credentialId) =>
    page.run(
      async ({ baseUrl, organizationId }, id) => {
        const bytes = Uint8Array.from(atob(id.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
        const stamper = new WebauthnStamper({ rpId: 'localhost', allowCredentials: [{ id: bytes, type: 'public-key' }] });
        return new TurnkeyClient({ baseUrl }, stamper).getWhoami({ organizationId });
      },
      dev,
      credentialId,
    );

  it('registers a passkey, makes a user with it, and stamps with @turnkey/webauthn-stamper', async () => {
    const authenticator = await register('passkey of the page');
    // The page makes the user itself, as one who may.
    const userId = await page.run(
      async ({ baseUrl, organizationId }, key, passkey) => {
        const client = new TurnkeyClient({ baseUrl }, new ApiKeyStamper(key));
        const { activity } = await client.createUsers({
          type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
          timestampMs: String(Date.now()),
          organizationId,
          parameters: {
            users: [{ userName: 'Ada of the page', apiKeys: [], authenticators: [passkey], oauthProviders: [], userTags: [] }],
          },
        });
        return activity.result.createUsersResult.userIds[0];
      },
      dev,
      root.key,
      authenticator,
    );
    const { user } = await root.query('getUser', { userId });
    const [stored] = shape.user(user).authenticators;
    assert.equal(stored.credentialId, authenticator.attestation.credentialId);
    assert.deepEqual(stored.transports, ['AUTHENTICATOR_TRANSPORT_INTERNAL']);

    // Several times: the authenticator counts, and the count must grow.
    for (let i = 0; i < 3; i++) assert.equal((await whoami(stored.credentialId)).userId, userId);

    // And it does something: the passkey brings a second one, which was made
    // with the help of @turnkey/http.
    const activity = await page.run(
      async ({ baseUrl, organizationId }, id, first) => {
        const challenge = crypto.getRandomValues(new Uint8Array(32));
        const attestation = await getWebAuthnAttestation({
          publicKey: {
            challenge,
            rp: { id: 'localhost', name: 'Page' },
            user: { id: crypto.getRandomValues(new Uint8Array(16)), name: 'second', displayName: 'second' },
            pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
          },
        });
        const text = btoa(String.fromCharCode(...challenge))
          .replaceAll('+', '-')
          .replaceAll('/', '_')
          .replaceAll('=', '');
        const bytes = Uint8Array.from(atob(first.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
        const stamper = new WebauthnStamper({ rpId: 'localhost', allowCredentials: [{ id: bytes, type: 'public-key' }] });
        const reply = await new TurnkeyClient({ baseUrl }, stamper).createAuthenticators({
          type: 'ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2',
          timestampMs: String(Date.now()),
          organizationId,
          parameters: { userId: id, authenticators: [{ authenticatorName: 'second', challenge: text, attestation }] },
        });
        return { ...reply.activity, second: attestation.credentialId };
      },
      dev,
      userId,
      stored.credentialId,
    );
    assert.equal(shape.activity(activity).status, 'ACTIVITY_STATUS_COMPLETED');
    assert.equal((await whoami(activity.second)).userId, userId);
  });

  it('authenticators of other kinds', async () => {
    const [ben] = await createUsers(http, dev, root, 'Ben');
    for (const [name, plugged, options, attestationType] of [
      ['attested', {}, { attestation: 'direct' }, /packed/],
      ['usb', { transport: 'usb' }, {}, /none/],
      [
        'u2f',
        { protocol: 'u2f', transport: 'usb', hasResidentKey: false, hasUserVerification: false },
        { attestation: 'direct' },
        /u2f/,
      ],
    ]) {
      await page.authenticator(plugged);
      const authenticator = await register(name, options);
      const { authenticatorIds } = await ben.run('createAuthenticators', { userId: ben.userId, authenticators: [authenticator] });
      const { authenticator: stored } = await ben.query('getAuthenticator', { authenticatorId: authenticatorIds[0] });
      assert.match(shape.authenticator(stored).attestationType, attestationType, name);
      for (let i = 0; i < 2; i++) assert.equal((await whoami(stored.credentialId)).userId, ben.userId);
    }
    await page.authenticator();
  });

  it('a page that is not allowed', async () => {
    const [child, owner] = await createOrganization({ ...held, flavour: http }, 'origins', ['Owner']);
    const authenticators = [await register('one')];
    const { authenticatorIds } = await owner.run('createAuthenticators', { userId: owner.userId, authenticators });
    const { authenticator } = await owner.query('getAuthenticator', { authenticatorId: authenticatorIds[0] });
    const ask = () =>
      page.run(
        async ({ baseUrl, organizationId }, id) => {
          const bytes = Uint8Array.from(atob(id.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
          const stamper = new WebauthnStamper({ rpId: 'localhost', allowCredentials: [{ id: bytes, type: 'public-key' }] });
          return new TurnkeyClient({ baseUrl }, stamper).getWhoami({ organizationId }).then(
            (who) => who.userId,
            (error) => error.code,
          );
        },
        child,
        authenticator.credentialId,
      );
    const feature = 'FEATURE_NAME_WEBAUTHN_ORIGINS';
    assert.equal(await ask(), owner.userId);
    await owner.run('setOrganizationFeature', { name: feature, value: 'https://elsewhere.example' });
    assert.equal(await ask(), 16);
    await owner.run('setOrganizationFeature', { name: feature, value: page.origin });
    assert.equal(await ask(), owner.userId);
  });

  it('@turnkey/indexed-db-stamper', async () => {
    page.by = '@turnkey/indexed-db-stamper';
    const publicKey = await page.run(async () => {
      window.stamper = new IndexedDbStamper();
      await stamper.init();
      await stamper.resetKeyPair();
      return stamper.getPublicKey();
    });
    const [cleo] = await createUsers(http, dev, root, 'Cleo');
    const apiKeys = [{ apiKeyName: 'of the page', publicKey, curveType: 'API_KEY_CURVE_P256' }];
    await cleo.run('createApiKeys', { userId: cleo.userId, apiKeys });
    const { who, status } = await page.run(async ({ baseUrl, organizationId }) => {
      const client = new TurnkeyClient({ baseUrl }, stamper);
      const { activity } = await client.createReadOnlySession({
        type: 'ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION',
        timestampMs: String(Date.now()),
        organizationId,
        parameters: {},
      });
      return { who: await client.getWhoami({ organizationId }), status: activity.status };
    }, dev);
    assert.equal(who.userId, cleo.userId);
    assert.equal(status, 'ACTIVITY_STATUS_COMPLETED');
    page.by = undefined;
  });

  // As an application uses it: logged in, with a session that the client keeps
  // in the browser. It knows the id of the parent organization only.
  describe('@turnkey/core', () => {
    let user; // its owner, whom the page logs in
    let child;
    let passkey;
    const identity = { sub: 'user of the page', aud: 'page' };
    const email = 'page@example.com';

    const call = (method, ...parameters) =>
      page.run((name, args) => core[name](...args).then((value) => value ?? null), method, parameters);
    const isSession = async (sessionToken) => {
      assert.ok(await verifySessionJwtSignature(sessionToken, held.dev.sessionPublicKey));
      const session = await call('getSession');
      assert.equal(session.organizationId, child.organizationId);
      assert.equal(session.userId, user.userId);
      assert.equal((await call('fetchUser')).userId, user.userId);
    };

    before(async () => {
      await page.authenticator();
      passkey = await page.run(async ({ baseUrl, organizationId }) => {
        window.core = new CoreClient({ apiBaseUrl: baseUrl, organizationId, passkeyConfig: { rpId: 'localhost' } });
        await core.init();
        return core.createPasskey({ name: 'page' });
      }, held.dev);
      const { encodedChallenge: challenge, attestation } = passkey;
      const parent = connectUser(sdkServer, held.dev, held.rootKey);
      const { subOrganizationId, rootUserIds } = await parent.run('createSubOrganization', {
        subOrganizationName: 'of the page',
        rootUsers: [
          {
            userName: 'Page',
            userEmail: email,
            apiKeys: [],
            authenticators: [{ authenticatorName: 'page', challenge, attestation }],
            oauthProviders: [{ providerName: 'test', oidcToken: await issuer.mint(identity) }],
          },
        ],
        rootQuorumThreshold: 1,
      });
      child = { ...held.dev, organizationId: subOrganizationId };
      user = { userId: rootUserIds[0] };
    });

    it('loginWithPasskey, and a session that is refreshed', async () => {
      const { sessionToken, credentialId } = await call('loginWithPasskey');
      assert.equal(credentialId, passkey.attestation.credentialId);
      await isSession(sessionToken);
      const { session } = await call('refreshSession', { expirationSeconds: '1200' });
      await isSession(session);
      assert.notEqual(session, sessionToken);
    });

    it('a session that has ended is known as such', async () => {
      await call('loginWithPasskey', { expirationSeconds: '1' });
      await sleep(1500); // it ended a second after the server made it
      const code = await page.run(() => core.fetchUser().catch((error) => error.code));
      assert.equal(code, 'SESSION_EXPIRED');
      await call('loginWithPasskey');
    });

    it('a wallet that signs, and is taken away', async () => {
      const walletId = await call('createWallet', {
        walletName: 'of the page',
        accounts: ['ADDRESS_FORMAT_ETHEREUM', 'ADDRESS_FORMAT_SOLANA'],
      });
      await call('createWalletAccounts', { walletId, accounts: ['ADDRESS_FORMAT_ETHEREUM'] });
      const wallets = await call('fetchWallets');
      assert.equal(wallets.length, 1);
      const { accounts } = wallets[0];
      assert.equal(accounts.length, 3);
      const account = accounts.find((a) => a.addressFormat === 'ADDRESS_FORMAT_ETHEREUM');
      const { r, s, v } = await call('signMessage', { message: 'hello', walletAccount: account, addEthereumPrefix: true });
      assert.equal(ethers.verifyMessage('hello', { r: `0x${r}`, s: `0x${s}`, v: 27 + parseInt(v, 16) }), account.address);
      const unsignedTransaction = ethers.Transaction.from({ type: 2, to: account.address, chainId: 1n }).unsignedSerialized;
      const signed = await call('signTransaction', {
        unsignedTransaction,
        transactionType: 'TRANSACTION_TYPE_ETHEREUM',
        walletAccount: account,
      });
      assert.equal(ethers.Transaction.from(`0x${signed}`).from, account.address);
      const bundle = await call('exportWallet', { walletId, targetPublicKey: held.dev.signerPublicKey });
      assert.equal(JSON.parse(bundle).enclaveQuorumPublic, held.dev.signerPublicKey);
    });

    it('its user, passkeys, policies and keys', async () => {
      assert.equal(await call('updateUserName', { userName: 'Page renamed' }), user.userId);
      assert.equal(await call('updateUserPhoneNumber', { phoneNumber: '+14155550177' }), user.userId);
      const fetched = await call('fetchUser');
      assert.deepEqual([fetched.userName, fetched.userPhoneNumber], ['Page renamed', '+14155550177']);
      assert.equal(await call('removeUserPhoneNumber'), user.userId);
      assert.ok(!('userPhoneNumber' in (await call('fetchUser'))));

      const authenticatorIds = await call('addPasskey', { name: 'second' });
      assert.equal((await call('fetchUser')).authenticators.length, 2);
      await call('removePasskeys', { authenticatorIds });
      assert.equal((await call('fetchUser')).authenticators.length, 1);

      const publicKey = await call('createApiKeyPair');
      const create = { publicKey, createParams: { userName: 'Helper' } };
      const helper = await call('fetchOrCreateP256ApiKeyUser', create);
      assert.equal((await call('fetchOrCreateP256ApiKeyUser', create)).userId, helper.userId);
      const policies = [
        {
          policyName: 'helper',
          effect: 'EFFECT_ALLOW',
          condition: "activity.action == 'SIGN'",
          consensus: `approvers.any(user, user.id == '${helper.userId}')`,
          notes: '',
        },
      ];
      const [{ policyId }] = await call('fetchOrCreatePolicies', { policies });
      assert.equal((await call('fetchOrCreatePolicies', { policies }))[0].policyId, policyId);
      await call('logout');
      assert.equal(await call('getSession'), null);
    });

    it('loginWithOauth', async () => {
      const publicKey = await call('createApiKeyPair');
      const oidcToken = await issuer.mint({ ...identity, nonce: nonce(publicKey) });
      const { sessionToken } = await call('loginWithOauth', { oidcToken, publicKey });
      await isSession(sessionToken);
      const { providerId } = (await call('fetchUser')).oauthProviders[0];
      await call('removeOauthProviders', { providerIds: [providerId] });
      assert.deepEqual((await call('fetchUser')).oauthProviders, []);
      await call('logout');
    });

    it('loginWithOtp', async () => {
      // The code is asked for and checked by a server of the application.
      const server = connectUser(sdkServer, held.dev, held.rootKey);
      const { otpId, otpEncryptionTargetBundle } = await server.run('initOtp', {
        otpType: 'OTP_TYPE_EMAIL',
        contact: email,
        appName: 'Page',
      });
      const { code } = await message(held.place, email);
      const publicKey = await call('createApiKeyPair');
      const encryptedOtpBundle = await encryptOtpCodeToBundle(
        code,
        otpEncryptionTargetBundle,
        publicKey,
        held.dev.signerPublicKey,
      );
      const { verificationToken } = await server.run('verifyOtp', { otpId, encryptedOtpBundle });
      const { sessionToken } = await call('loginWithOtp', { verificationToken });
      await isSession(sessionToken);
      await call('deleteSubOrganization', { deleteWithoutExport: true });
      await assert.rejects(call('fetchUser'));
    });
  });
});
