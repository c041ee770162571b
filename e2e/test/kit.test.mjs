// An application on @turnkey/react-wallet-kit in Chromium, unmodified but for its
// URLs and the plugin: users sign up and log in through the auth proxy.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { before, describe, it } from 'node:test';

import * as ethers from 'ethers';

import { usePage } from '../lib/chromium.mjs';
import { nonce, useIssuer } from '../lib/issuer.mjs';
import { serveKit } from '../lib/kit.mjs';
import { message } from '../lib/outbox.mjs';
import { binary, storeName, useServer } from '../lib/server.mjs';
import { until } from '../lib/until.mjs';

describe(`react-wallet-kit on ${storeName}`, () => {
  const held = useServer();
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
    await page.run(() => {
      window.kit = undefined;
      location.reload();
    });
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

  before(() => {
    const settings = { allowedAuthMethods: ['email', 'passkey', 'wallet', 'google'], allowedOrigins: [page.origin] };
    execFileSync(binary, ['request', '--data', held.place.data, 'update_auth_proxy_config', JSON.stringify(settings)]);
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
  const ready = (address) =>
    until(
      () => 'the frame to be styled by the kit',
      () => page.inFrame(address, () => (document.body?.style.backgroundColor ?? '') !== ''),
    );
  const exported = async (method, parameters) => {
    await page.run((name, sent) => void (window.done = window.kit[name](sent)), method, parameters);
    await ready('/export');
    await press('confirm-export-warning-button');
    const text = await until(
      () => 'what was exported',
      () => page.inFrame('/export', () => document.querySelector('.secret').textContent),
    );
    return text;
  };
  const imported = async (method, parameters, text) => {
    await page.run((name, sent) => void (window.done = window.kit[name](sent)), method, parameters);
    await ready('/import');
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
});
