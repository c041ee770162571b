// The ways in, and the ways out.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { before, describe, it } from 'node:test';

import { binary } from '../../e2e/lib/server.mjs';
import { accessible, addAuthenticator, consoleUrl, furnish, newKey, picture, result, signIn, storeName, useBrowser, usePasskey, useServer } from './lib.mjs';

describe(`ways in on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let org;
  before(async () => {
    org = await furnish(held);
  });

  it('is where a browser is sent, and no other client', async () => {
    const page = await fetch(held.dev.baseUrl, { headers: { Accept: 'text/html' }, redirect: 'manual' });
    assert.equal(page.headers.get('location'), '/console/');
    const other = await fetch(held.dev.baseUrl);
    assert.equal(other.status, 404);
    assert.equal(other.headers.get('content-type'), 'application/json');
  });

  it('says what is wrong with an organization id and with a key, at the field', async () => {
    const page = await browser.open();
    await page.goto(consoleUrl(held.dev));
    await page.getByLabel('API private key').fill('abc');
    await page.getByRole('button', { name: 'Sign in with an API key' }).click();
    await page.getByText('An API private key is 64 hex digits').waitFor();
    assert.equal(await page.getByLabel('API private key').getAttribute('aria-invalid'), 'true');
    await page.getByLabel('API private key').fill('ab'.repeat(64) + ':secp256k1');
    await page.getByRole('button', { name: 'Sign in with an API key' }).click();
    await page.getByText('of the curve secp256k1').waitFor();
    await page.getByLabel('API private key').fill(newKey().apiPrivateKey);
    await page.getByRole('button', { name: 'Sign in with an API key' }).click();
    await page.getByText('Enter the organization’s ID').waitFor();
    await page.getByLabel('Organization ID').fill(held.dev.organizationId);
    await page.getByRole('button', { name: 'Sign in with an API key' }).click();
    await page.getByRole('alert').waitFor(); // the server's words: this key is not known
    await accessible(page, 'sign-in with mistakes');
    await page.context().close();
  });

  it('takes a key file, keeps it over a reload, and forgets it with the sign-out', async () => {
    const page = await browser.open();
    await page.goto(consoleUrl(held.dev, 'wallets'));
    await page.locator('input[type=file]').setInputFiles(held.server.file);
    await page.getByRole('button', { name: 'Sign in with an API key' }).click();
    await page.getByRole('heading', { name: 'Wallets', level: 1 }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Wallets', level: 1 }).waitFor();
    const extractable = await page.evaluate(async () => {
      const db = await new Promise((resolve) => (indexedDB.open('latchkey-console').onsuccess = (e) => resolve(e.target.result)));
      const [all] = await new Promise((resolve) => (db.transaction('held').objectStore('held').getAll().onsuccess = (e) => resolve([e.target.result])));
      db.close();
      return all.map((h) => h.privateKey.extractable);
    });
    assert.deepEqual(extractable, [false]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.equal(await page.getByLabel('Organization ID').inputValue(), '');
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.context().close();
  });

  it('lets the development user in by the printed address, once', async () => {
    const address = /^Console\s+(\S+)$/m.exec(held.server.output())[1];
    const page = await browser.open();
    await page.goto(address);
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    assert.equal(page.url(), consoleUrl(held.dev), 'the code stays out of the history');
    const second = await browser.open();
    await second.goto(address);
    await second.getByText('can be used once only').waitFor();
    const next = execFileSync(binary, ['console', '--data', held.place.data], { encoding: 'utf8' }).trim();
    const third = await browser.open();
    await third.goto(next);
    await third.getByRole('heading', { name: 'Inbox' }).waitFor();
    for (const p of [page, second, third]) await p.context().close();
  });

  it('enrols a new user, who then signs in with the passkey', async () => {
    const admin = await browser.open();
    await signIn(admin, held.dev, held.rootKey, 'users');
    await admin.getByRole('button', { name: 'Create user' }).click();
    await admin.getByLabel('User name').fill('Grace');
    await admin.getByLabel('E-mail address').fill('grace@example.com');
    await picture(admin, 'create-user');
    await admin.getByRole('dialog').getByRole('button', { name: 'Create user' }).click();
    const link = await admin.getByTestId('enrolment-link').textContent();
    await accessible(admin, 'enrolment link');

    const grace = await browser.open({ viewport: { width: 390, height: 800 } });
    await addAuthenticator(grace);
    await grace.goto(link);
    await grace.getByText('Welcome, Grace').waitFor();
    await accessible(grace, 'enrolment');
    await picture(grace, 'enrolment-phone');
    await grace.getByRole('button', { name: 'Register a passkey' }).click();
    await grace.getByRole('heading', { name: 'Inbox' }).waitFor();
    await grace.getByRole('button', { name: 'Sign out' }).click();
    await grace.getByLabel('Organization ID').fill(held.dev.organizationId);
    await grace.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await grace.getByRole('heading', { name: 'Inbox' }).waitFor();

    const { users } = await org.root.query('list_users');
    const user = users.find((u) => u.userName === 'Grace');
    assert.equal(user.authenticators.length, 1);
    assert.deepEqual(user.apiKeys.filter((k) => k.apiKeyName === 'Enrolment link'), [], 'the key of the link is gone');
    const late = await browser.open();
    await late.goto(link);
    await late.getByText('no longer valid').waitFor();
    for (const p of [admin, grace, late]) await p.context().close();
  });

  it('signs in again where a credential is gone, and has several organizations side by side', async () => {
    const page = await browser.open();
    await signIn(page, held.dev, org.people.Bob.key, 'users');
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    const { users } = await org.root.query('list_users');
    const [key] = users.find((u) => u.userName === 'Bob').apiKeys;
    await org.root.submit('create_api_keys', 'CREATE_API_KEYS_V2', { userId: org.people.Bob.userId, apiKeys: [{ apiKeyName: 'second', publicKey: newKey().apiPublicKey, curveType: 'API_KEY_CURVE_P256' }] });
    await org.root.submit('delete_api_keys', 'DELETE_API_KEYS', { userId: org.people.Bob.userId, apiKeyIds: [key.apiKeyId] });
    await page.getByText('your session ended').waitFor();
    await page.getByLabel('API private key').fill(org.people.Ada.key.apiPrivateKey);
    await page.getByRole('button', { name: 'Sign in with an API key' }).click();
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();

    const child = newKey();
    const made = await org.root.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V7', {
      subOrganizationName: 'Second organization', rootQuorumThreshold: 1,
      rootUsers: [{ userName: 'Dora', apiKeys: [{ apiKeyName: 'k', publicKey: child.apiPublicKey, curveType: 'API_KEY_CURVE_P256' }], authenticators: [], oauthProviders: [] }],
    });
    await page.getByRole('button', { name: 'Account' }).click();
    await accessible(page, 'account');
    await page.getByRole('button', { name: 'Add an organization' }).click();
    await page.getByLabel('Organization ID').fill(result(made).subOrganizationId);
    await page.getByLabel('API private key').fill(child.apiPrivateKey);
    await page.getByRole('button', { name: 'Sign in with an API key' }).click();
    await page.getByText('Second organization').waitFor();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByLabel('Appearance').selectOption('Dark');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await page.getByRole('button', { name: 'Switch to Development' }).click();
    await page.getByRole('banner').getByText('Development').waitFor();
    await page.context().close();
  });

  it('says that a passkey of this host is missing', async () => {
    const page = await browser.open();
    await addAuthenticator(page);
    await page.goto(consoleUrl(held.dev));
    await page.getByLabel('Organization ID').fill(held.dev.organizationId);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('no passkey for localhost').waitFor();
    await page.goto(consoleUrl(held.dev).replace('localhost', '127.0.0.1'));
    await page.getByText('Open this page by its name').waitFor();
    await page.context().close();
  });

  it('renews the session of a page that is used, with the key of the session', async () => {
    const page = await browser.open();
    await addAuthenticator(page);
    // The page lives twenty minutes ago: the server takes requests of the last hour.
    await page.clock.install({ time: Date.now() - 20 * 60_000 });
    await usePasskey(page, held.dev, org.people.Ada);
    const renewal = page.waitForResponse((r) => r.url().endsWith('/stamp_login') && r.request().headers()['x-stamp'] !== undefined);
    for (let minutes = 0; minutes < 8; minutes += 4) await page.clock.fastForward(4 * 60_000);
    assert.equal((await renewal).status(), 200);
    await page.keyboard.press('Shift');
    for (let minutes = 0; minutes < 9; minutes += 3) await page.clock.fastForward(3 * 60_000); // past the end of the first session
    await page.getByRole('link', { name: 'Wallets', exact: true }).click();
    await page.getByRole('link', { name: 'Treasury' }).waitFor();
    await page.context().close();
  });

  it('locks an idle page, deletes the keys, and leads back to the same place', async () => {
    const page = await browser.open();
    await page.clock.install();
    await signIn(page, held.dev, held.rootKey, 'policies');
    await page.getByRole('heading', { name: 'Policies', level: 1 }).waitFor();
    await page.clock.fastForward(16 * 60_000);
    await page.getByText('The page was locked').waitFor();
    const stored = await page.evaluate(async () => {
      const db = await new Promise((resolve) => (indexedDB.open('latchkey-console').onsuccess = (e) => resolve(e.target.result)));
      return new Promise((resolve) => (db.transaction('held').objectStore('held').count().onsuccess = (e) => resolve(e.target.result)));
    });
    assert.equal(stored, 0);
    assert.equal(await page.getByLabel('Organization ID').inputValue(), held.dev.organizationId);
    await page.getByLabel('API private key').fill(held.rootKey.apiPrivateKey);
    await page.getByRole('button', { name: 'Sign in with an API key' }).click();
    await page.getByRole('heading', { name: 'Policies', level: 1 }).waitFor();
    await page.context().close();
  });
});
