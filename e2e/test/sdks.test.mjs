// Pages on @turnkey/core, @turnkey/sdk-browser and @turnkey/sdk-react in Chromium,
// from sign-up to log-out, with the frames of the server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';

import * as ethers from 'ethers';

import { esbuild as latchkey } from '../../packages/latchkey-bundler/index.js';
import { servePage, usePage } from '../lib/chromium.mjs';
import { flavours } from '../lib/clients.mjs';
import { callFrame, closeFrame, frameAddresses, openFrame } from '../lib/frames.mjs';
import { nonce, useIssuer } from '../lib/issuer.mjs';
import { message } from '../lib/outbox.mjs';
import { binary, storeName, useServer } from '../lib/server.mjs';
import { until } from '../lib/until.mjs';
import { connectUser } from '../lib/users.mjs';

const [http] = flavours;
const account = { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0", addressFormat: 'ADDRESS_FORMAT_ETHEREUM' };

const shown = (page, frame) => page.inFrame(frame, () => document.querySelector('.secret').textContent);
const type = (page, frame, text) => page.inFrame(frame, (typed) => (document.querySelector('textarea').value = typed), text);

// A module of Node that a part of @turnkey/sdk-react imports, for logins at a site
// that these pages do not have. Frameworks put something in its place.
const nodeModules = {
  name: 'node-modules',
  setup(build) {
    build.onResolve({ filter: /^crypto$/ }, ({ path }) => ({ path, namespace: 'none' }));
    build.onLoad({ filter: /.*/, namespace: 'none' }, () => ({ contents: 'export default {}' }));
  },
};

// What the application's own server does where there is no auth proxy: it opens the
// account of a passkey that the page made.
async function openAccount(held, { encodedChallenge, attestation }, more) {
  const root = connectUser(http, held.dev, held.rootKey, held.dev.userId);
  const { subOrganizationId, rootUserIds } = await root.run('createSubOrganization', {
    subOrganizationName: 'Account',
    rootQuorumThreshold: 1,
    rootUsers: [
      {
        userName: 'Ada',
        apiKeys: [],
        authenticators: [{ authenticatorName: 'Passkey', challenge: encodedChallenge, attestation }],
        oauthProviders: [],
        ...more,
      },
    ],
  });
  return { organizationId: subOrganizationId, userId: rootUserIds[0] };
}

describe(`pages without the kit on ${storeName}`, () => {
  describe('@turnkey/core', () => {
    const held = useServer();
    const issuer = useIssuer();
    const page = usePage(() => servePage({ plugins: [latchkey({ publicKey: held.dev.signerPublicKey })] }));
    let frames;

    const core = (method, ...args) => page.run((name, sent) => window.core[name](...sent).then((value) => value ?? null), method, args);
    const own = async () => (await core('getSession')).organizationId;

    before(async () => {
      frames = frameAddresses(held);
      const settings = { allowedAuthMethods: ['email', 'passkey', 'wallet', 'google'] };
      execFileSync(binary, ['request', '--data', held.place.data, 'update_auth_proxy_config', JSON.stringify(settings)]);
      const config = {
        apiBaseUrl: held.dev.baseUrl,
        organizationId: held.dev.organizationId,
        ...JSON.parse(readFileSync(join(held.place.data, 'auth-proxy.json'), 'utf8')),
        passkeyConfig: { rpId: 'localhost' },
        walletConfig: { features: { auth: true }, chains: { ethereum: { native: true } } },
      };
      await page.run(async (settings) => {
        installWallet();
        window.core = new CoreClient(settings);
        await window.core.init();
      }, config);
    });

    it('signs up by passkey, exports and imports through frames, logs out and in', async () => {
      await core('signUpWithPasskey', { passkeyDisplayName: 'Ada' });
      const first = await own();
      const walletId = await core('createWallet', { walletName: 'First', accounts: ['ADDRESS_FORMAT_ETHEREUM'] });
      const [{ accounts }] = await core('fetchWallets');
      const { r, s, v } = await core('signMessage', { message: 'hello', walletAccount: accounts[0], addEthereumPrefix: true });
      assert.equal(ethers.verifyMessage('hello', { r: `0x${r}`, s: `0x${s}`, v: 27 + Number(v) }), accounts[0].address);

      const targetPublicKey = await openFrame(page, 'export', frames.export);
      const bundle = await core('exportWallet', { walletId, targetPublicKey });
      await callFrame(page, 'export', 'injectWalletExportBundle', bundle, first);
      assert.equal(ethers.HDNodeWallet.fromPhrase(await shown(page, '#export')).address, accounts[0].address);
      await closeFrame(page, 'export');

      const other = ethers.HDNodeWallet.createRandom();
      const { userId } = await core('getSession');
      await openFrame(page, 'import', frames.import);
      const { importBundle } = await page.run((id) => window.core.httpClient.initImportWallet({ userId: id }), userId);
      await callFrame(page, 'import', 'injectImportBundle', importBundle, first, userId);
      await type(page, '#import', other.mnemonic.phrase);
      const encryptedBundle = await callFrame(page, 'import', 'extractWalletEncryptedBundle');
      await core('importWallet', { walletName: 'Second', encryptedBundle, accounts: [account] });
      assert.ok((await core('fetchWallets')).some((w) => w.accounts[0].address === other.address));
      await closeFrame(page, 'import');

      await core('logout');
      assert.equal(await core('getSession'), null);
      await core('loginWithPasskey');
      assert.equal(await own(), first);
      await core('logout');
    });

    it('signs up by wallet, by OpenID Connect and by a code, and logs in again', async () => {
      const byWallet = (method) =>
        page.run(async (name) => {
          const [walletProvider] = await window.core.fetchWalletProviders();
          await window.core[name]({ walletProvider });
        }, method);
      const byToken = async () => {
        const publicKey = await core('createApiKeyPair');
        const oidcToken = await issuer.mint({ aud: 'client', sub: 'ada of core', nonce: nonce(publicKey) });
        await core('completeOauth', { publicKey, oidcToken, providerName: 'Issuer' });
      };
      const byCode = async (nth) => {
        const contact = 'core@example.com';
        const sent = await core('initOtp', { otpType: 'OTP_TYPE_EMAIL', contact });
        const { code } = await message(held.place, contact, nth);
        await core('completeOtp', { ...sent, otpCode: code, contact, otpType: 'OTP_TYPE_EMAIL' });
      };
      for (const [first, again] of [
        [() => byWallet('signUpWithWallet'), () => byWallet('loginWithWallet')],
        [byToken, byToken],
        [() => byCode(1), () => byCode(2)],
      ]) {
        await first();
        const opened = await own();
        await core('logout');
        await again();
        assert.equal(await own(), opened);
        await core('logout');
      }
    });
  });

  describe('@turnkey/sdk-browser', () => {
    const held = useServer();
    const page = usePage();
    let frames;
    let ada;

    before(async () => {
      frames = frameAddresses(held);
      const passkey = await page.run(async ({ baseUrl, organizationId }) => {
        window.sdk = new BrowserSDK({ apiBaseUrl: baseUrl, defaultOrganizationId: organizationId, rpId: 'localhost' });
        return sdk.passkeyClient().createUserPasskey({ publicKey: { rp: { id: 'localhost', name: 'Page' }, user: { name: 'Ada', displayName: 'Ada' } } });
      }, held.dev);
      ada = await openAccount(held, passkey, { userEmail: 'browser@example.com' });
    });

    // A frame as the SDK makes it, under a name.
    const frame = (name, iframeUrl) =>
      page.run(
        async (id, url) => {
          const iframeContainer = document.body.appendChild(document.createElement('div'));
          window[id] = await sdk.iframeClient({ iframeUrl: url, iframeElementId: id, iframeContainer });
          return window[id].iframePublicKey;
        },
        name,
        `${iframeUrl}#${name}`,
      );

    it('logs in by passkey, makes a wallet, exports and imports it, logs out', async () => {
      const { who, walletId, address } = await page.run(async ({ organizationId }, wallet) => {
        window.db = await sdk.indexedDbClient();
        await db.init();
        await db.resetKeyPair();
        await sdk.passkeyClient().loginWithPasskey({ sessionType: 'SESSION_TYPE_READ_WRITE', publicKey: await db.getPublicKey(), organizationId });
        const made = await db.createWallet({ organizationId, walletName: 'First', accounts: [wallet] });
        return { who: await db.getWhoami({ organizationId }), walletId: made.walletId, address: made.addresses[0] };
      }, ada, account);
      assert.equal(who.userId, ada.userId);

      const targetPublicKey = await frame('export', frames.export);
      await page.run(
        async ({ organizationId }, id, key) => {
          const { exportBundle } = await db.exportWallet({ organizationId, walletId: id, targetPublicKey: key });
          await window.export.injectWalletExportBundle(exportBundle, organizationId);
        },
        ada,
        walletId,
        targetPublicKey,
      );
      assert.equal(ethers.HDNodeWallet.fromPhrase(await shown(page, '#export')).address, address);

      const other = ethers.HDNodeWallet.createRandom();
      await frame('import', frames.import);
      await page.run(async ({ organizationId, userId }) => {
        const { importBundle } = await db.initImportWallet({ organizationId, userId });
        await window.import.injectImportBundle(importBundle, organizationId, userId);
      }, ada);
      await type(page, '#import', other.mnemonic.phrase);
      const { addresses } = await page.run(
        async ({ organizationId, userId }, wallet) => {
          const encryptedBundle = await window.import.extractWalletEncryptedBundle();
          return db.importWallet({ organizationId, userId, walletName: 'Second', encryptedBundle, accounts: [wallet] });
        },
        ada,
        account,
      );
      assert.deepEqual(addresses, [other.address]);
      assert.equal(await page.run(() => sdk.logout()), true);
      assert.equal(await page.run(async () => (await sdk.getSession()) ?? null), null);
    });

    it('logs in by a bundle in a mail, which the auth frame opens', async () => {
      const targetPublicKey = await frame('auth', frames.auth);
      const child = { ...held.dev, organizationId: ada.organizationId };
      await connectUser(http, child, held.rootKey).run('emailAuth', {
        email: 'browser@example.com',
        targetPublicKey,
        emailCustomization: { appName: 'Page' },
      });
      const { bundle } = await message(held.place, 'browser@example.com');
      const userId = await page.run(
        async ({ organizationId }, sent) => {
          await window.auth.loginWithBundle({ bundle: sent, expirationSeconds: '900' });
          const session = await sdk.getSession();
          const made = await window.auth.createReadOnlySession({ organizationId });
          return [session.userId, made.userId];
        },
        ada,
        bundle,
      );
      assert.deepEqual(userId, [ada.userId, ada.userId]);
    });
  });

  describe('@turnkey/sdk-react', () => {
    const held = useServer();
    const page = usePage(() => {
      const config = {
        apiBaseUrl: held.dev.baseUrl,
        defaultOrganizationId: held.dev.organizationId,
        rpId: 'localhost',
        iframeUrl: `${frameAddresses(held).auth}#auth`,
      };
      return servePage({ script: 'sdk-react.js', fragment: `#${encodeURIComponent(JSON.stringify(config))}`, plugins: [nodeModules] });
    });

    it('logs in by passkey and by the auth frame, makes a wallet, logs out', async () => {
      await until(
        () => 'the auth frame of the provider',
        () => page.run(() => Boolean(window.sdk?.authIframeClient && window.sdk.indexedDbClient)),
      );
      const passkey = await page.run(() =>
        window.sdk.passkeyClient.createUserPasskey({ publicKey: { rp: { id: 'localhost', name: 'Page' }, user: { name: 'Ada', displayName: 'Ada' } } }),
      );
      const ada = await openAccount(held, passkey);
      const addresses = await page.run(
        async ({ organizationId }, wallet) => {
          const { indexedDbClient: db, passkeyClient } = window.sdk;
          await db.resetKeyPair();
          await passkeyClient.loginWithPasskey({ sessionType: 'SESSION_TYPE_READ_WRITE', publicKey: await db.getPublicKey(), organizationId });
          return (await db.createWallet({ organizationId, walletName: 'First', accounts: [wallet] })).addresses;
        },
        ada,
        account,
      );
      assert.match(addresses[0], /^0x/);

      // A session in the frame, which the passkey asks for.
      const who = await page.run(async ({ organizationId }) => {
        const { authIframeClient, passkeyClient } = window.sdk;
        const targetPublicKey = await authIframeClient.getEmbeddedPublicKey();
        const { credentialBundle } = await passkeyClient.createReadWriteSession({ organizationId, targetPublicKey });
        await authIframeClient.injectCredentialBundle(credentialBundle);
        return authIframeClient.getWhoami({ organizationId });
      }, ada);
      assert.equal(who.userId, ada.userId);
      assert.equal(await page.run(() => window.sdk.turnkey.logout()), true);
    });
  });
});
