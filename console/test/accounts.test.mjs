// A wallet of ten thousand accounts: what is in the document is what is near the
// window, and still every account can be reached, by scrolling, searching, keyboard
// and screen reader.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { accessible, furnish, keyOf, picture, signIn, storeName, useBrowser, useServer } from './lib.mjs';

const many = 10_000;

describe(`ten thousand accounts on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let page;
  before(async () => {
    const org = await furnish(held, ['Ada']);
    const account = (i) => ({ curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: `m/44'/60'/0'/1/${i}`, addressFormat: 'ADDRESS_FORMAT_ETHEREUM' });
    for (let from = 4; from < many; from += 100) {
      const count = Math.min(100, many - from);
      await org.root.submit('create_wallet_accounts', 'CREATE_WALLET_ACCOUNTS', { walletId: org.walletId, accounts: Array.from({ length: count }, (_, i) => account(from + i)) });
    }
    page = await browser.open();
    await signIn(page, held.dev, keyOf(held.rootKey), `wallets/${org.walletId}`);
    await page.getByText('10,000 accounts', { exact: true }).waitFor();
  });

  const rows = () => page.getByRole('list', { name: 'Accounts' }).getByRole('listitem');
  const row = (n) => page.locator(`li[aria-posinset="${n}"]`);
  // On a busy machine the browser loses a key that scrolls now and then. A person would
  // press it again; a list that does not follow the window is no better for it.
  const scrollBy = async (key, n) => {
    for (let tries = 0; tries < 5; tries++) {
      await page.keyboard.press(key);
      if (await row(n).waitFor({ timeout: 20_000 }).then(() => true, () => false)) return;
    }
    const at = await page.evaluate(() => `${scrollY} of ${document.documentElement.scrollHeight}`);
    assert.fail(`${key} does not lead to row ${n}: the page is at ${at}`);
  };

  it('has few of them in the document, and each with its place', async () => {
    assert.ok((await rows().count()) < 60, `${await rows().count()} rows are in the document`);
    await row(1).waitFor();
    assert.equal(await row(1).getAttribute('aria-setsize'), String(many));
    await accessible(page, 'ten thousand accounts');
  });

  it('shows every place that is scrolled to', async () => {
    for (const share of [0.25, 0.75, 0.5]) {
      await page.evaluate((to) => scrollTo(0, document.documentElement.scrollHeight * to), share);
      await page.waitForFunction((to) => [...document.querySelectorAll('li[aria-posinset]')].some((e) => Math.abs(Number(e.getAttribute('aria-posinset')) - 10_000 * to) < 60), share);
      assert.ok((await rows().count()) < 60);
      // Nothing is missing in the window itself.
      const gaps = await page.evaluate(() => {
        const list = document.querySelector('ul.rows').getBoundingClientRect();
        const found = [];
        for (let y = Math.max(0, list.top) + 20; y < Math.min(innerHeight, list.bottom) - 20; y += 40) {
          if (!document.elementFromPoint(list.left + 40, y)?.closest('li[aria-posinset]')) found.push(y);
        }
        return found;
      });
      assert.deepEqual(gaps, []);
    }
    await scrollBy('End', many);
    await row(many).getByText(`m/44'/60'/0'/1/${many - 1}`).waitFor();
    await picture(page, 'accounts-end', false);
    await scrollBy('Home', 1);
  });

  it('is gone through by the Tab key, and keeps the focus while it is scrolled', async () => {
    await page.evaluate(() => scrollTo(0, 0));
    await row(1).getByRole('button', { name: /^Sign with/ }).focus();
    for (let n = 2; n <= 60; n++) {
      await page.keyboard.press('Tab'); // copy
      await page.keyboard.press('Tab'); // QR
      await page.keyboard.press('Tab'); // sign
      assert.equal(await page.evaluate(() => document.activeElement.closest('li')?.getAttribute('aria-posinset')), String(n));
    }
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await row(many).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.closest('li')?.getAttribute('aria-posinset')), '60');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    assert.equal(await page.evaluate(() => document.activeElement.closest('li')?.getAttribute('aria-posinset')), '59');
  });

  it('finds one of them, and adds another', async () => {
    await page.getByLabel('Find an account').fill('/1/4321');
    await page.getByText('1 of 10,000 accounts').waitFor();
    assert.equal(await rows().count(), 1);
    await page.getByLabel('Find an account').fill('');
    await page.getByRole('button', { name: 'Add accounts' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Add accounts' }).click();
    await page.getByText('10,001 accounts', { exact: true }).waitFor();
  });
});
