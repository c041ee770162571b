// Keys into the server and out of it: the page encrypts and decrypts. The phrase and
// its address are those of a published test vector (BIP-39's zero entropy).
import assert from 'node:assert/strict';
import { createECDH } from 'node:crypto';
import { before, describe, it } from 'node:test';

import { accessible, caller, closed, consoleUrl, keyOf, picture, signIn, storeName, useBrowser, useServer } from './lib.mjs';

const phrase = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const firstAddress = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'; // m/44'/60'/0'/0/0
const secret = '4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318';
const secretAddress = '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23';

describe(`import and export on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let page;
  before(async () => {
    page = await browser.open();
    await signIn(page, held.dev, held.rootKey);
  });
  const dialog = () => page.getByRole('dialog');

  it('imports a wallet by its phrase, and shows the phrase once', async () => {
    await page.goto(consoleUrl(held.dev, 'wallets'));
    await page.getByRole('button', { name: 'Import' }).click();
    await dialog().getByLabel('Wallet name').fill('Imported');
    await dialog().getByLabel('Seed phrase').fill('not a phrase');
    await accessible(page, 'import');
    await dialog().getByRole('button', { name: 'Import' }).click();
    await dialog().getByRole('alert').waitFor();
    await dialog().getByLabel('Seed phrase').fill(phrase);
    await dialog().getByRole('button', { name: 'Import' }).click();
    await closed(page);
    await page.getByRole('link', { name: 'Imported' }).click();
    await page.getByText(firstAddress).waitFor();
    await page.getByRole('button', { name: 'Export' }).click();
    await dialog().getByLabel('Where to').selectOption('Shown here, once');
    await dialog().getByText('past every policy').waitFor();
    await accessible(page, 'export');
    await picture(page, 'export');
    await dialog().getByRole('button', { name: 'Export' }).click();
    assert.equal(await page.getByTestId('exported').textContent(), phrase);
    await dialog().getByRole('button', { name: 'Close' }).click();
    await closed(page);
    assert.equal(await page.getByText('abandon').count(), 0);
  });

  it('imports a private key, and exports it sealed to a key', async () => {
    await page.goto(consoleUrl(held.dev, 'private-keys'));
    await page.getByRole('button', { name: 'Import' }).click();
    await dialog().getByLabel('Private key name').fill('Old key');
    await dialog().getByLabel('Private key', { exact: true }).fill('12');
    await dialog().getByRole('button', { name: 'Import' }).click();
    await dialog().getByText('64 hex digits').waitFor();
    await dialog().getByLabel('Private key', { exact: true }).fill(secret);
    await dialog().getByRole('button', { name: 'Import' }).click();
    await page.getByText(secretAddress).waitFor();
    await closed(page);
    await page.getByRole('button', { name: 'Export Old key' }).click();
    await dialog().getByLabel('Public key of the receiver').fill('04');
    await dialog().getByRole('button', { name: 'Export' }).click();
    await dialog().getByRole('alert').waitFor();
    const receiver = createECDH('prime256v1');
    await dialog().getByLabel('Public key of the receiver').fill(receiver.generateKeys('hex'));
    await dialog().getByRole('button', { name: 'Export' }).click();
    const bundle = JSON.parse(await page.getByTestId('exported').textContent());
    assert.equal(bundle.version, 'v1.0.0');
    assert.doesNotMatch(JSON.stringify(bundle), new RegExp(secret));
    const { privateKeys } = await caller(held.dev, keyOf(held.rootKey)).query('list_private_keys');
    assert.equal(privateKeys[0].exported, true);
  });
});
