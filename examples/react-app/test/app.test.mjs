// A user in a browser: signs up in the kit's own dialog, makes a wallet, signs, sees
// its words, imports another one, leaves and comes back.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { verifyMessage } from 'viem';
import { english, generateMnemonic, mnemonicToAccount } from 'viem/accounts';

import { startBrowser } from '../../embedded-wallet/test/chromium.mjs';
import { startApp } from '../app.mjs';
import { holdsFrame, isClosed } from './dialog.mjs';

describe('the application', () => {
  let app;
  let browser;
  before(async () => {
    [app, browser] = await Promise.all([startApp({ port: 0 }), startBrowser()]);
    await browser.passkeys();
    await browser.open(app.url);
  });
  after(async () => {
    await browser?.stop();
    await app?.stop();
  });

  const press = (selector) =>
    browser.until((s) => {
      const button = document.querySelector(s);
      if (!button || button.disabled) return false;
      button.click();
      return true;
    }, selector);
  const see = (selector) => browser.until((s) => document.querySelector(s)?.textContent, selector);
  const addresses = () => browser.run(() => [...document.querySelectorAll('.address')].map((p) => p.textContent));
  const byTestId = (id) => `[data-testid="${id}"]`;

  let address;

  it('signs a user up with a passkey, makes a wallet and signs', async () => {
    await press('#enter');
    await press(byTestId('passkey-signup-button'));
    await browser.until(isClosed);
    await press('#create');
    address = await see('.address');
    await press('.sign');
    assert.ok(await verifyMessage({ address, message: 'Hello', signature: await see('.signature') }));
  });

  it('shows the words in a frame that the page cannot read', async () => {
    await press('.export');
    await browser.until(holdsFrame, byTestId('confirm-export-warning-button'));
    await press(byTestId('confirm-export-warning-button'));
    const words = await browser.untilInFrame('/export', () => document.querySelector('.secret')?.textContent);
    assert.equal(mnemonicToAccount(words).address, address);
    assert.equal(await browser.run((secret) => document.documentElement.innerHTML.includes(secret), words), false);
    await browser.open(app.url);
  });

  it('imports a wallet through a frame', async () => {
    const words = generateMnemonic(english);
    await press('#import');
    await browser.until(holdsFrame, byTestId('import-button'));
    await browser.untilInFrame('/import', (text) => (document.querySelector('textarea').value = text), words);
    await browser.until((s) => {
      // As React is told of what a person types.
      const input = document.querySelector(s);
      if (!input) return false;
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, 'Brought');
      return input.dispatchEvent(new Event('input', { bubbles: true }));
    }, byTestId('import-wallet-name-input'));
    await press(byTestId('import-button'));
    await browser.until((wanted) => document.body.innerText.includes(wanted), mnemonicToAccount(words).address);
    await browser.open(app.url);
  });

  it('lets the user out, and in again', async () => {
    await see('.address');
    const before = await addresses();
    assert.equal(before.length, 2);
    await press('#leave');
    await press('#enter');
    await press(byTestId('passkey-login-button'));
    await browser.until((count) => document.querySelectorAll('.address').length === count, before.length);
    assert.deepEqual((await addresses()).sort(), before.sort());
  });
});
