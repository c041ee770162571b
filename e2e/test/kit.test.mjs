// An application on @turnkey/react-wallet-kit in Chromium, unmodified but for its
// URLs and the plugin: users sign up and log in through the auth proxy.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { before, describe, it } from 'node:test';

import { encryptOauth2ClientSecret } from '@turnkey/crypto';
import * as ethers from 'ethers';

import { holdsFrame } from '../../examples/react-app/test/dialog.mjs';
import { usePage } from '../lib/chromium.mjs';
import { nonce, useIssuer } from '../lib/issuer.mjs';
import { serveKit } from '../lib/kit.mjs';
import { message } from '../lib/outbox.mjs';
import { useProvider } from '../lib/provider.mjs';
import { binary, storeName, useServer } from '../lib/server.mjs';
import { until } from '../lib/until.mjs';

describe(`react-wallet-kit on ${storeName}`, () => {
  const provider = useProvider();
  const held = useServer(provider.flags);
  const issuer = useIssuer();
  const page = usePage(() => serveKit(held));

  // state waits until the kit has it.
  const state = (name, value) =>
    until(
      () => `${name} ${value}`,
      () => page.run((member, wanted) => window.kit?.[member] === wanted, name, value),
    );
  const inside = () => state('authState', 'authenticated');
  const organization = () => page.run(() => window.kit.session.organizationId);
  const logout = async () => {
    await page.run(() => window.kit.logout());
    await state('authState', 'unauthenticated');
  };

  // reload loads the application anew; its session is still there.
  const reload = async () => {
    await page.reload();
    await state('clientState', 'ready');
    await inside();
  };

  // byCode lets the owner of an address in, by the nth code that is sent there.
  const byCode = async (contact, nth) => {
    const sent = await page.run((to) => window.kit.initOtp({ otpType: 'OTP_TYPE_EMAIL', contact: to }), contact);
    const { code } = await message(held.place, contact, nth);
    const { action } = await page.run(
      (to, bundle, otpCode) => window.kit.completeOtp({ ...bundle, otpCode, contact: to, otpType: 'OTP_TYPE_EMAIL' }),
      contact,
      sent,
      code,
    );
    await inside();
    return action;
  };

  // operator does something as the root user of the parent.
  const operator = (operation, parameters) =>
    execFileSync(binary, ['request', '--data', held.place.data, operation, JSON.stringify(parameters)]);

  before(() => {
    operator('update_auth_proxy_config', { allowedAuthMethods: ['email', 'passkey', 'wallet', 'google'], allowedOrigins: [page.origin] });
  });

  it('starts', async () => {
    await state('clientState', 'ready');
    const methods = await page.run(() => window.kit.config.ui.authModal.methods);
    assert.ok(methods.passkeyAuthEnabled && methods.emailOtpAuthEnabled && !methods.smsOtpAuthEnabled);
  });

  it('signs up by passkey, makes a wallet, signs, logs out and in again', async () => {
    await page.run(() => window.kit.signUpWithPasskey({ passkeyDisplayName: 'Ada' }));
    await inside();
    const own = await organization();
    assert.notEqual(own, held.dev.organizationId);

    await page.run(() => window.kit.createWallet({ walletName: 'First', accounts: ['ADDRESS_FORMAT_ETHEREUM'] }));
    const signed = await page.run(async () => {
      const [{ accounts }] = await window.kit.fetchWallets();
      const { r, s, v } = await window.kit.signMessage({ message: 'hello', walletAccount: accounts[0], addEthereumPrefix: true });
      return { address: accounts[0].address, r, s, v };
    });
    const signature = ethers.Signature.from({ r: `0x${signed.r}`, s: `0x${signed.s}`, v: 27 + Number(signed.v) });
    assert.equal(ethers.verifyMessage('hello', signature), signed.address);

    await logout();
    await page.run(() => window.kit.loginWithPasskey());
    await inside();
    assert.equal(await organization(), own);
    await logout();
  });

  it('signs up by wallet, and logs in again', async () => {
    const enter = (method) =>
      page.run(async (name) => {
        const [walletProvider] = await window.kit.fetchWalletProviders();
        await window.kit[name]({ walletProvider });
      }, method);
    await enter('signUpWithWallet');
    await inside();
    const own = await organization();
    assert.notEqual(own, held.dev.organizationId);
    await logout();
    await enter('loginWithWallet');
    await inside();
    assert.equal(await organization(), own);
    await logout();
  });

  // What the person in front of the screen does in the dialogs of the kit.
  const press = (name) =>
    until(
      () => `the button ${name}`,
      () =>
        page.run((id) => {
          const button = document.querySelector(`[data-testid="${id}"]`);
          button?.click();
          return Boolean(button);
        }, name),
    );
  const ready = (name) =>
    until(
      () => `the frame of the dialog with ${name}`,
      () => page.run(holdsFrame, `[data-testid="${name}"]`),
    );
  const exported = async (method, parameters) => {
    await page.run((name, sent) => void (window.done = window.kit[name](sent)), method, parameters);
    await ready('confirm-export-warning-button');
    await press('confirm-export-warning-button');
    const text = await until(
      () => 'what was exported',
      () => page.inFrame('/export', () => document.querySelector('.secret').textContent),
    );
    return text;
  };
  const imported = async (method, parameters, text) => {
    await page.run((name, sent) => void (window.done = window.kit[name](sent)), method, parameters);
    await ready('import-button');
    await page.inFrame('/import', (typed) => (document.querySelector('textarea').value = typed), text);
    await press('import-button');
    return page.run(() => window.done);
  };

  it('exports and imports through the frames', async () => {
    await page.run(() => window.kit.signUpWithPasskey({ passkeyDisplayName: 'Frames' }));
    await inside();
    const { walletId, address } = await page.run(async () => {
      const id = await window.kit.createWallet({ walletName: 'Exported', accounts: ['ADDRESS_FORMAT_ETHEREUM'] });
      const wallets = await window.kit.fetchWallets();
      return { walletId: id, address: wallets.find((w) => w.walletId === id).accounts[0].address };
    });
    const words = await exported('handleExportWallet', { walletId });
    assert.equal(ethers.HDNodeWallet.fromPhrase(words).address, address);
    await reload();
    const key = await exported('handleExportWalletAccount', { address });
    assert.equal(new ethers.Wallet(key).address, address);
    await reload();

    // Words of another wallet, and a key.
    const other = ethers.HDNodeWallet.createRandom();
    const id = await imported(
      'handleImportWallet',
      { walletName: 'Imported', defaultWalletAccounts: ['ADDRESS_FORMAT_ETHEREUM'], successPageDuration: 0 },
      other.mnemonic.phrase,
    );
    const found = await page.run(async (wanted) => (await window.kit.fetchWallets()).find((w) => w.walletId === wanted), id);
    assert.equal(found.accounts[0].address, other.address);
    await reload();
    const alone = ethers.Wallet.createRandom();
    await imported(
      'handleImportPrivateKey',
      { keyName: 'Key', curve: 'CURVE_SECP256K1', addressFormats: ['ADDRESS_FORMAT_ETHEREUM'], keyFormat: 'HEXADECIMAL', successPageDuration: 0 },
      alone.privateKey,
    );
    const keys = await page.run(() => window.kit.fetchPrivateKeys());
    assert.equal(keys[0].addresses[0].address, alone.address);
    await reload();
    await logout();
  });

  it('signs up by a code in a mail, and logs in by another', async () => {
    assert.equal(await byCode('grace@example.com', 1), 'SIGNUP');
    const own = await organization();
    await logout();
    assert.equal(await byCode('grace@example.com', 2), 'LOGIN');
    assert.equal(await organization(), own);
    await logout();
  });

  it('signs up by OpenID Connect, and logs in again', async () => {
    const enter = async () => {
      const publicKey = await page.run(() => window.kit.createApiKeyPair());
      const oidcToken = await issuer.mint({ aud: 'client', sub: 'ada', nonce: nonce(publicKey) });
      const { action } = await page.run((sent) => window.kit.completeOauth({ ...sent, providerName: 'Issuer' }), { publicKey, oidcToken });
      await inside();
      return action;
    };
    assert.equal(await enter(), 'SIGNUP');
    const own = await organization();
    await logout();
    assert.equal(await enter(), 'LOGIN');
    assert.equal(await organization(), own);
    await logout();
  });

  it('adds and removes credentials', async () => {
    await page.run(() => window.kit.signUpWithPasskey({ passkeyDisplayName: 'First' }));
    await inside();
    const user = () => page.run(() => window.kit.fetchUser());
    const own = await organization();
    const [passkey] = (await user()).authenticators;

    // An identity at an issuer, which then lets the user in.
    const token = async () => {
      const publicKey = await page.run(() => window.kit.createApiKeyPair());
      return { publicKey, oidcToken: await issuer.mint({ aud: 'client', sub: 'credentials', nonce: nonce(publicKey) }) };
    };
    const [providerId] = await page.run((sent) => window.kit.addOauthProvider({ ...sent, providerName: 'Issuer' }), await token());
    assert.deepEqual(
      (await user()).oauthProviders.map((one) => one.providerId),
      [providerId],
    );

    // Another passkey, of another authenticator; the first goes.
    await page.authenticator();
    const [added] = await page.run(() => window.kit.addPasskey({ name: 'Second', displayName: 'Second' }));
    await page.run((id) => window.kit.removePasskeys({ authenticatorIds: [id] }), passkey.authenticatorId);
    assert.deepEqual(
      (await user()).authenticators.map((one) => one.authenticatorId),
      [added],
    );
    await logout();
    await page.run(() => window.kit.loginWithPasskey());
    await inside();
    assert.equal(await organization(), own);

    await page.run((id) => window.kit.removeOauthProviders({ providerIds: [id] }), providerId);
    assert.deepEqual((await user()).oauthProviders, []);
    // The last way in stays.
    await assert.rejects(
      page.run((id) => window.kit.removePasskeys({ authenticatorIds: [id] }), added),
      /passkey|authenticator|credential/i,
    );
    await logout();
  });

  it('meets a multi-factor policy, in the session and at the next login', async () => {
    await page.authenticator(); // without passkeys of others, which it might choose
    await page.run(() => window.kit.signUpWithPasskey({ passkeyDisplayName: 'Factors' }));
    await inside();
    const { publicKey } = await page.run(async () => ({ publicKey: await window.kit.createApiKeyPair() }));
    const oidcToken = await issuer.mint({ aud: 'client', sub: 'factors', nonce: nonce(publicKey) });
    await page.run((sent) => window.kit.addOauthProvider({ oidcToken: sent, providerName: 'Issuer' }), oidcToken);
    const policy = (mfaPolicyName, order, condition, ...steps) =>
      page.run(
        (sent) => window.kit.httpClient.createMfaPolicy({ ...sent, userId: window.kit.session.userId }),
        {
          mfaPolicyName,
          order,
          condition,
          requiredAuthenticationMethods: steps.map((type) => ({ any: [{ type: `AUTHENTICATION_TYPE_${type}` }] })),
        },
      );
    await policy('wallets', 0, "activity.resource == 'WALLET'", 'SESSION', 'PASSKEY');
    await policy('logins', 1, "activity.resource == 'AUTH'", 'OAUTH', 'PASSKEY');

    // Without a handler the kit is told no result, and nothing is done.
    const create = (walletName) => page.run((name) => window.kit.createWallet({ walletName: name, accounts: [] }), walletName);
    const wallets = async () => {
      const all = await page.run(() => window.kit.fetchWallets());
      return all.filter(({ source }) => source === 'embedded').map(({ walletName }) => walletName);
    };
    await create('Refused').catch(() => {});
    assert.deepEqual(await wallets(), []);

    // The application asks for the passkey.
    const handle = () =>
      page.run(() => {
        window.asked = [];
        window.kit.setMfaHandler(async (context) => {
          window.asked.push(context);
          const { fingerprint, organizationId } = context;
          await window.kit.httpClient.approveActivity({ fingerprint, organizationId }, 'passkey');
        });
      });
    await handle();
    assert.ok(await create('Proved'));
    const [asked] = await page.run(() => window.asked);
    assert.equal(asked.activityType, 'ACTIVITY_TYPE_CREATE_WALLET');
    assert.equal(asked.mfaStatuses[0].satisfied, false);
    assert.deepEqual(
      asked.mfaStatuses[0].satisfiedMethods.map((one) => one.type),
      ['AUTHENTICATION_TYPE_SESSION'],
    );
    assert.deepEqual(await wallets(), ['Proved']);

    // A login by the identity alone is not enough.
    const own = await organization();
    await logout();
    await handle();
    const key = await page.run(() => window.kit.createApiKeyPair());
    const fresh = await issuer.mint({ aud: 'client', sub: 'factors', nonce: nonce(key) });
    const { action } = await page.run((sent) => window.kit.completeOauth({ ...sent, providerName: 'Issuer' }), {
      publicKey: key,
      oidcToken: fresh,
    });
    await inside();
    assert.equal(action, 'LOGIN');
    assert.equal(await organization(), own);
    assert.deepEqual(
      (await page.run(() => window.asked)).map((one) => one.activityType),
      ['ACTIVITY_TYPE_STAMP_LOGIN'],
    );
    await page.run(() => window.kit.setMfaHandler(undefined));
    await logout();
  });

  it('signs up at X, and logs in again', async () => {
    await provider.register('kit client', 'kit secret');
    const { oauth2ClientSecretPublicKey } = await fetch(`${held.dev.baseUrl}/.well-known/latchkey.json`).then((reply) => reply.json());
    operator('create_oauth2_credential', {
      provider: 'OAUTH2_PROVIDER_X',
      clientId: 'kit client',
      encryptedClientSecret: await encryptOauth2ClientSecret('kit secret', oauth2ClientSecretPublicKey),
    });
    operator('update_auth_proxy_config', {
      allowedAuthMethods: ['email', 'passkey', 'wallet', 'google', 'x'],
      walletKitSettings: { enabledSocialProviders: ['x'], oauthClientIds: { x: 'kit client' }, oauthRedirectUrl: `${page.origin}/` },
    });
    // Where the kit sends the browser is built in; the user logs in at once.
    await page.redirect('https://x.com/i/oauth2/authorize', ({ search }) => `${provider.url}/authorize${search}&user=2244994945`);
    const enter = async () => {
      await page.reload(); // its settings are read when it starts
      await state('clientState', 'ready');
      await page.run(() => void window.kit.handleXOauth({ openInPage: true }).catch(() => {}));
      await until(
        () => 'the way back from X',
        () => page.run(() => window.kit?.authState === 'authenticated').catch(() => false),
      );
      return organization();
    };
    const own = await enter();
    assert.notEqual(own, held.dev.organizationId);
    const { oauthProviders } = await page.run(() => window.kit.fetchUser());
    assert.deepEqual(
      oauthProviders.map(({ issuer: by, audience, subject }) => [by, audience, subject]),
      [[held.dev.baseUrl, 'kit client', 'x:2244994945']],
    );
    await logout();
    assert.equal(await enter(), own);
    await logout();
  });
});
