// Further factors, and invitations: who proves what before they are let in.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { message } from '../../e2e/lib/outbox.mjs';
import { accessible, addAuthenticator, closed, consoleUrl, furnish, newKey, picture, signIn, storeName, useBrowser, usePasskey, useServer } from './lib.mjs';

describe(`factors and invitations on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let org;

  before(async () => {
    org = await furnish(held, ['Ada', 'Cora', 'Dan']);
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
    await closed(page);
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
    await closed(page);
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

  // needsCode gives a user an address, and asks for a code to it where the condition holds.
  async function needsCode({ userId, ...user }, email, condition, first = 'API_KEY') {
    await org.root.submit('update_user_email', 'UPDATE_USER_EMAIL', { userId, userEmail: email });
    await user.submit('create_mfa_policy', 'CREATE_MFA_POLICY', {
      userId, mfaPolicyName: 'and a code', condition, order: 0,
      requiredAuthenticationMethods: [first, 'EMAIL_OTP'].map((kind) => ({ any: [{ type: `AUTHENTICATION_TYPE_${kind}` }] })),
    });
  }
  const newTag = (user, userTagName) => user.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName, userIds: [] });

  it('takes a code by mail as a further factor', async () => {
    const { Cora, Dan } = org.people;
    for (const [name, resources, { userId }] of [['Cora', "'USER', 'OTP'", Cora], ['Dan', "'USER'", Dan]]) {
      await org.root.submit('create_policy', 'CREATE_POLICY_V3', {
        policyName: `${name} tags`, effect: 'EFFECT_ALLOW', notes: '', condition: `activity.resource in [${resources}]`, consensus: `approvers.any(user, user.id == '${userId}')`,
      });
    }
    await needsCode(Cora, 'cora@example.com', "activity.resource == 'USER'");
    assert.equal((await newTag(Cora, 'treasury')).status, 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');

    const page = await browser.open({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
    await signIn(page, held.dev, Cora.key);
    const item = page.locator('li[data-activity]');
    await item.getByRole('button', { name: 'Send a code by mail to cora@example.com' }).click();
    await item.getByText('A code was sent to cora@example.com').waitFor();
    const { code } = await message(held.place, 'cora@example.com');
    await item.getByLabel('Code').fill(code === '000000' ? '000001' : '000000');
    await item.getByRole('button', { name: 'Confirm with the code' }).click();
    await item.locator('.problem').waitFor();
    assert.equal(await item.getByLabel('Code').getAttribute('aria-invalid'), 'true');
    await accessible(page, 'a wrong code');
    await picture(page, 'factors-code-phone');
    await item.getByLabel('Code').fill(code);
    await item.getByRole('button', { name: 'Confirm with the code' }).click();
    await page.getByText('Nothing waits for you').waitFor();
    const { userTags } = await org.root.query('list_user_tags');
    assert.deepEqual(userTags.map((tag) => tag.tagName), ['treasury']);

    // Who has such a policy is seen on the organization's screen.
    await page.goto(consoleUrl(held.dev, 'organization'));
    const factors = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Further factors' }) });
    await factors.getByText('of 5 users have a multi-factor policy').waitFor();
    await factors.getByRole('link', { name: 'Cora' }).waitFor();

    // Who may not ask for codes is told so, with what would be right.
    await needsCode(Dan, 'dan@example.com', "activity.resource == 'USER'");
    await newTag(Dan, 'other');
    const refused = await browser.open();
    await signIn(refused, held.dev, Dan.key);
    await refused.getByRole('button', { name: 'Send a code by mail to dan@example.com' }).click();
    await refused.getByRole('alert').getByText('A policy must let you ask for codes').waitFor();
    await accessible(refused, 'a code that may not be asked for');
    await picture(refused, 'factors-code-refused');
  });

  it('takes a code at sign-in, and says why a policy makes that impossible', async () => {
    const { Cora } = org.people;
    const page = await browser.open();
    await addAuthenticator(page);
    await usePasskey(page, held.dev, Cora);
    await Cora.submit('create_mfa_policy', 'CREATE_MFA_POLICY', {
      userId: Cora.userId, mfaPolicyName: 'sign-in with a code', condition: "activity.resource == 'AUTH'", order: 1,
      requiredAuthenticationMethods: ['PASSKEY', 'EMAIL_OTP'].map((kind) => ({ any: [{ type: `AUTHENTICATION_TYPE_${kind}` }] })),
    });
    const comeIn = async () => {
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Organization ID').fill(held.dev.organizationId);
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByRole('button', { name: 'Confirm with a code by mail or SMS' }).click();
      await page.getByLabel('E-mail address').fill('nowhere');
      await page.getByRole('button', { name: 'Send a code by mail' }).click();
      await page.locator('.problem').waitFor();
      await page.getByLabel('E-mail address').fill('cora@example.com');
      await page.getByRole('button', { name: 'Send a code by mail' }).click();
    };
    await comeIn();
    await page.getByText('A code was sent').waitFor();
    await accessible(page, 'a code at sign-in');
    await picture(page, 'factors-code-signin');
    await page.getByLabel('Code').fill((await message(held.place, 'cora@example.com', 2)).code);
    await page.getByRole('button', { name: 'Confirm with the code' }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();

    await Cora.submit('create_mfa_policy', 'CREATE_MFA_POLICY', {
      userId: Cora.userId, mfaPolicyName: 'everything with a code', condition: 'true', order: 2,
      requiredAuthenticationMethods: ['PASSKEY', 'EMAIL_OTP'].map((kind) => ({ any: [{ type: `AUTHENTICATION_TYPE_${kind}` }] })),
    });
    await comeIn();
    await page.getByRole('alert').getByText('so no code can be asked for').waitFor();
  });
});
