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
