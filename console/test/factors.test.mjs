// Further factors, and invitations: who proves what before they are let in.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { message } from '../../e2e/lib/outbox.mjs';
import { accessible, addAuthenticator, consoleUrl, furnish, newKey, picture, signIn, storeName, useBrowser, usePasskey, useServer } from './lib.mjs';

describe(`factors and invitations on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let org;

  before(async () => {
    org = await furnish(held, ['Ada']);
  });

  it('invites a user by mail, who registers a passkey', async () => {
    const page = await browser.open();
    await signIn(page, held.dev, held.rootKey, 'users');
    await page.getByRole('button', { name: 'Create user' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('User name').fill('Iris');
    await dialog.getByLabel('E-mail address').fill('nowhere');
    await dialog.getByRole('button', { name: 'Invite by mail' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('E-mail address').fill('iris@example.com');
    await accessible(page, 'create user');
    await dialog.getByRole('button', { name: 'Invite by mail' }).click();
    await dialog.getByText('Iris was invited').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('row', { name: /Iris/ }).getByText('invited').waitFor();
    await picture(page, 'users-invited');

    const { bundle } = await message(held.place, 'iris@example.com');
    const iris = await browser.open();
    await addAuthenticator(iris);
    await iris.goto(consoleUrl(held.dev, `#invite=${bundle}`));
    await iris.getByRole('button', { name: 'Register a passkey' }).click();
    await iris.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.getByRole('row', { name: /Iris/ }).getByText('invited').waitFor({ state: 'detached' });
  });

  it('asks for a further factor at sign-in when a multi-factor policy does', async () => {
    const { Ada } = org.people;
    const page = await browser.open();
    await addAuthenticator(page);
    await usePasskey(page, held.dev, Ada);
    await page.goto(consoleUrl(held.dev, `users/${Ada.userId}`));
    await page.getByText('No multi-factor policy').waitFor();
    await page.getByRole('button', { name: 'Create multi-factor policy' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Multi-factor policy name').fill('Passkey and key');
    await dialog.getByRole('button', { name: 'Add a step' }).click();
    await dialog.getByRole('button', { name: 'Create multi-factor policy' }).click();
    await dialog.getByRole('alert').waitFor(); // a step without a method
    await dialog.getByRole('button', { name: 'Remove the last step' }).click();
    await accessible(page, 'create multi-factor policy');
    await picture(page, 'factors-create');
    await dialog.getByRole('button', { name: 'Create multi-factor policy' }).click();
    await page.getByText('passkey, and API key').waitFor();
    await accessible(page, 'user with factors');
    await picture(page, 'factors');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Organization ID').fill(held.dev.organizationId);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'One more factor' }).waitFor();
    await accessible(page, 'one more factor');
    await picture(page, 'factors-signin');
    const confirm = page.getByRole('button', { name: 'Confirm with an API key' });
    for (const wrong of ['nonsense', newKey().apiPrivateKey]) {
      await page.getByLabel('API private key').fill(wrong);
      await confirm.click();
      await page.locator('.problem, [role=alert]').first().waitFor();
      assert.equal(await page.getByRole('button', { name: 'Sign out' }).count(), 0);
    }
    await page.getByRole('button', { name: 'Confirm with another passkey' }).click();
    await page.getByRole('alert').last().waitFor(); // the same passkey again is no further factor
    assert.equal(await page.getByRole('button', { name: 'Sign out' }).count(), 0);
    await page.getByLabel('API private key').fill(Ada.key.apiPrivateKey);
    await confirm.click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });
});
