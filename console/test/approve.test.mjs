// Approving: live in two browsers, with a passkey, by keyboard, and not at all where
// the server does not show what was signed.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { accessible, addAuthenticator, consoleUrl, ethereum, furnish, newKey, picture, result, signIn, signTransaction, storeName, useBrowser, usePasskey, useServer } from './lib.mjs';

describe(`approving on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let org;
  let nonce = 0;
  const to = '0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5';
  const transfer = (value = 1_000_000_000_000_000_000n) => signTransaction(org.people.Ada, org.ethereum, ethereum({ nonce: nonce++, to, value }));
  before(async () => {
    org = await furnish(held, ['Ada', 'Bob', 'Cleo']);
  });

  it('brings a request to two people live, and takes it from both when one approves', async () => {
    const bob = await browser.open({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
    const cleo = await browser.open();
    await signIn(bob, held.dev, org.people.Bob.key);
    await signIn(cleo, held.dev, org.people.Cleo.key);
    for (const page of [bob, cleo]) await page.getByText('Nothing waits for you').waitFor();
    const { id } = await transfer();
    for (const page of [bob, cleo]) {
      const item = page.locator(`li[data-activity="${id}"]`);
      await item.getByText('Send 1 ETH').waitFor();
      await item.getByText(to).waitFor();
      await item.getByText('1 of 2: Ada; missing one of Root user, Bob, Cleo').waitFor();
      await item.getByText('“Two sign together”').waitFor();
      assert.equal(await page.title(), 'Latchkey (1) · Inbox');
    }
    await bob.getByRole('button', { name: 'Approve' }).tap();
    for (const page of [bob, cleo]) {
      await page.locator(`li[data-activity="${id}"]`).waitFor({ state: 'detached' });
      await page.getByText('Nothing waits for you').waitFor();
      assert.equal(await page.title(), 'Latchkey · Inbox');
    }
    const { activity } = await org.root.query('get_activity', { activityId: id });
    assert.equal(activity.status, 'ACTIVITY_STATUS_COMPLETED');
    assert.deepEqual(activity.votes.map((v) => v.userId), [org.people.Ada.userId, org.people.Bob.userId]);
    for (const page of [bob, cleo]) await page.context().close();
  });

  it('rejects, on the activity’s own page', async () => {
    const page = await browser.open();
    const { id } = await transfer();
    await signIn(page, held.dev, org.people.Bob.key, `activities/${id}`);
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('Rejected', { exact: true }).waitFor();
    assert.equal((await org.root.query('get_activity', { activityId: id })).activity.status, 'ACTIVITY_STATUS_REJECTED');
    await page.context().close();
  });

  it('gives a further factor with the passkey, where a multi-factor policy asks for one', async () => {
    const page = await browser.open();
    await addAuthenticator(page);
    await usePasskey(page, held.dev, org.people.Ada);
    const step = (...types) => ({ any: types.map((type) => ({ type: `AUTHENTICATION_TYPE_${type}` })) });
    await org.people.Ada.submit('create_mfa_policy', 'CREATE_MFA_POLICY', {
      userId: org.people.Ada.userId, mfaPolicyName: 'tags need a passkey', order: 0,
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'", requiredAuthenticationMethods: [step('API_KEY'), step('PASSKEY')],
    });
    await org.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Ada makes tags', effect: 'EFFECT_ALLOW', notes: '',
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'", consensus: `approvers.any(user, user.id == '${org.people.Ada.userId}')`,
    });
    const waiting = await org.people.Ada.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'by two factors', userIds: [] });
    assert.equal(waiting.status, 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
    await page.getByRole('link', { name: 'Inbox', exact: true }).click();
    const item = page.locator(`li[data-activity="${waiting.id}"]`);
    await item.getByText('asks you for another credential').waitFor();
    assert.equal(await item.getByRole('button', { name: 'Reject' }).count(), 0);
    await picture(page, 'inbox-factor');
    await accessible(page, 'a request that needs a factor');
    await item.getByRole('button', { name: 'Confirm it is you' }).click();
    await item.waitFor({ state: 'detached' });
    assert.equal((await org.root.query('get_activity', { activityId: waiting.id })).activity.status, 'ACTIVITY_STATUS_COMPLETED');
    await page.context().close();
  });

  it('stamps a vote with the passkey itself', async () => {
    const page = await browser.open();
    await addAuthenticator(page);
    await usePasskey(page, held.dev, org.people.Cleo);
    const { id } = await transfer();
    await page.getByRole('link', { name: 'Inbox', exact: true }).click();
    await page.locator(`li[data-activity="${id}"]`).getByRole('button', { name: 'Approve' }).click();
    await page.locator(`li[data-activity="${id}"]`).waitFor({ state: 'detached' });
    const { activity } = await org.root.query('get_activity', { activityId: id });
    assert.equal(activity.status, 'ACTIVITY_STATUS_COMPLETED');
    assert.match(activity.votes[1].scheme, /WEBAUTHN/);
    await page.context().close();
  });

  it('works by keyboard alone', async () => {
    const { id } = await transfer();
    const page = await browser.open();
    await page.goto(consoleUrl(held.dev));
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const reach = async (label) => {
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press('Tab');
        const name = await page.evaluate(() => {
          const e = document.activeElement;
          return e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? e.textContent;
        });
        if (name === label) return;
      }
      assert.fail(`${label} cannot be reached by the Tab key`);
    };
    await reach('Organization ID');
    await page.keyboard.type(held.dev.organizationId);
    await reach('API private key');
    await page.keyboard.type(org.people.Bob.key.apiPrivateKey);
    await page.keyboard.press('Enter');
    await page.locator(`li[data-activity="${id}"]`).getByRole('button', { name: 'Approve' }).waitFor();
    await reach('Approve');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing waits for you').waitFor();
    await page.context().close();
  });

  it('offers no approval where the server shows other bytes, or says other things', async () => {
    const { id } = await transfer();
    const page = await browser.open();
    for (const [lie, words] of [
      [(a) => (a.votes[0].message = a.votes[0].message.replace('SIGN_TRANSACTION_V2', 'SIGN_TRANSACTION_V3')), 'is not the one that was signed'],
      [(a) => (Object.values(a.intent)[0].signWith = '0x0000000000000000000000000000000000000000'), 'is not what was signed (signWith)'],
    ]) {
      await page.route('**/list_activities', async (route) => {
        const reply = await route.fetch();
        const body = await reply.json();
        body.activities.filter((a) => a.id === id).forEach(lie);
        await route.fulfill({ response: reply, json: body });
      });
      await signIn(page, held.dev, org.people.Bob.key);
      const item = page.locator(`li[data-activity="${id}"]`);
      await item.getByText(words).waitFor();
      await item.getByRole('button', { name: 'Reject' }).waitFor();
      assert.equal(await item.getByRole('button', { name: 'Approve' }).count(), 0);
      // A reply that is being changed just now is waited for: the page asks again and again.
      await page.unrouteAll({ behavior: 'wait' });
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    }
    await accessible(page, 'sign-in after sign-out');
    await page.context().close();
  });

  it('shows to a member of the root quorum what waits for the quorum', async () => {
    const key = newKey();
    const made = await org.root.submit('create_users', 'CREATE_USERS_V3', {
      users: [{ userName: 'Second root', userTags: [], authenticators: [], oauthProviders: [], apiKeys: [{ apiKeyName: 'k', publicKey: key.apiPublicKey, curveType: 'API_KEY_CURVE_P256' }] }],
    });
    const second = result(made).userIds[0];
    await org.root.submit('update_root_quorum', 'UPDATE_ROOT_QUORUM', { threshold: 2, userIds: [held.dev.userId, second] });
    const waits = await org.root.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'traders', userIds: [] });
    const page = await browser.open();
    await signIn(page, held.dev, key);
    const item = page.locator(`li[data-activity="${waits.id}"]`);
    await item.getByText('Create user tag “traders”').waitFor();
    await item.getByText('1 of 2: Root user; missing Second root').waitFor();
    await item.getByText('Asked for by the root quorum').waitFor();
    await item.getByRole('button', { name: 'Approve' }).click();
    await item.waitFor({ state: 'detached' });
    await picture(page, 'inbox-empty');
    const { activity } = await org.root.query('get_activity', { activityId: waits.id });
    assert.equal(activity.status, 'ACTIVITY_STATUS_COMPLETED');
    await page.context().close();
  });
});
