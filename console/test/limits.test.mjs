// Limits over time in the console: made, filled, seen and deleted.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { accessible, closed, consoleUrl, ethereum, furnish, keyOf, picture, result, signIn, signTransaction, storeName, useBrowser, useServer } from './lib.mjs';

describe(`limits on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let org;
  let page;

  before(async () => {
    org = await furnish(held, ['Ada', 'Bob']);
    page = await browser.open();
    await signIn(page, held.dev, keyOf(held.rootKey));
  });

  it('creates a limit, and says at the field what is wrong with it', async () => {
    await page.getByRole('link', { name: 'Limits', exact: true }).click();
    await page.getByText('No limits yet').waitFor();
    await page.getByRole('button', { name: 'Create limit' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Limit name').fill('Ether of a day');
    await form.getByLabel('Name in policies').fill('not a name');
    await form.getByLabel('Limit', { exact: true }).fill('2');
    await form.getByRole('button', { name: 'Create limit' }).click();
    await form.locator('.problem').waitFor();
    await accessible(page, 'a limit that is refused');
    await form.getByLabel('Name in policies').fill('daily_ether');
    await form.getByRole('button', { name: 'Create limit' }).click();
    await page.getByText('True while the amount moved is at most 2 within 1 day, for the organization.').waitFor();
    await page.getByText('controls.daily_ether').waitFor();
    await closed(page);
  });

  it('shows what is used and left, as it changes', async () => {
    const root = org.root;
    await signTransaction(root, org.ethereum, ethereum({ to: '0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5', value: 1_500_000_000_000_000_000n }));
    await page.getByText('0.5 left').waitFor();
    assert.equal(await page.getByRole('meter').getAttribute('value'), '0.75');
    const plot = page.getByRole('img', { name: 'Used over time: now 1.5, the limit is 2.' });
    await plot.waitFor();
    await page.getByText('As a table').click();
    await page.getByRole('row', { name: /1\.5$/ }).first().waitFor();
    await accessible(page, 'limits');
    await picture(page, 'limits-used');
    // What is used goes on to be shown, in the plot too, without a reload.
    await signTransaction(root, org.ethereum, ethereum({ nonce: 1, to: '0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5', value: 250_000_000_000_000_000n }));
    await page.getByRole('img', { name: 'Used over time: now 1.75' }).waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    await accessible(page, 'limits, dark');
    await picture(page, 'limits-used-dark');
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('says beside a request that waits what the limit leaves', async () => {
    const made = await org.root.submit('create_policy', 'CREATE_POLICY_V3', { policyName: 'Within the day', effect: 'EFFECT_ALLOW', condition: "activity.action == 'SIGN' && controls.daily_ether", consensus: 'approvers.count() >= 3', notes: '' });
    const ask = (nonce, value) => signTransaction(org.people.Ada, org.ethereum, ethereum({ nonce, to: '0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5', value }));
    const fits = await ask(10, 250_000_000_000_000_000n);
    const exceeds = await ask(11, 10n ** 18n);
    const bob = await browser.open();
    await signIn(bob, held.dev, org.people.Bob.key);
    await bob.locator(`li[data-activity="${fits.id}"]`).getByText('Limit daily_ether: 0.25 left, and this fits').waitFor();
    await bob.locator(`li[data-activity="${exceeds.id}"]`).getByText('Limit daily_ether: 0.25 left, which this exceeds').waitFor();
    await picture(bob, 'inbox-limits');
    await bob.goto(consoleUrl(held.dev, `activities/${exceeds.id}`));
    await bob.getByText('does not hold').waitFor();
    for (const { fingerprint } of [fits, exceeds]) await org.root.submit('reject_activity', 'REJECT_ACTIVITY', { fingerprint });
    await org.root.submit('delete_policy', 'DELETE_POLICY', { policyId: result(made).policyId });
    await bob.context().close();
  });

  it('has a sum and a plot for each user where users are limited', async () => {
    const per = await org.root.submit('create_velocity_control', 'CREATE_VELOCITY_CONTROL', {
      name: 'Ether of each user', identifier: 'per_user',
      dataSource: { chainAssetTransfer: { definition: [{ caip19: 'eip155:1/slip44:60', decimals: '18' }] } },
      aggregation: { method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM', operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL', threshold: '5', window: { calendar: { unit: 'DAY', timezone: 'UTC' } }, groupBy: { user: {} } },
    });
    await org.root.submit('create_policy', 'CREATE_POLICY_V3', { policyName: 'Anyone', effect: 'EFFECT_ALLOW', condition: "activity.action == 'SIGN'", consensus: 'true', notes: '' });
    for (const [nonce, who] of [[2, org.people.Ada], [3, org.people.Bob]]) await signTransaction(who, org.ethereum, ethereum({ nonce, to: '0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5', value: 250_000_000_000_000_000n }));
    const card = page.locator('section', { hasText: 'Ether of each user' });
    await card.getByText('Ada').waitFor();
    await card.getByText('Bob').waitFor();
    // A plot is open already if the page looked while its user was the only one.
    const first = card.locator('details').first();
    if (!(await first.evaluate((details) => details.open))) await first.getByText('Used over time').click();
    await first.getByRole('img', { name: 'Used over time: now 0.25, the limit is 5.' }).waitFor();
    await picture(page, 'limits-groups');
    await org.root.submit('delete_velocity_control', 'DELETE_VELOCITY_CONTROL', { velocityControlId: result(per).velocityControlId });
    await card.waitFor({ state: 'detached' });
  });

  it('does not delete a limit that a policy reads, and deletes another', async () => {
    const made = await org.root.submit('create_policy', 'CREATE_POLICY_V3', { policyName: 'Within the limit', effect: 'EFFECT_ALLOW', condition: "activity.action == 'SIGN' && controls.daily_ether", consensus: 'true', notes: '' });
    await page.getByRole('button', { name: 'Delete Ether of a day' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('Within the limit').waitFor();
    await org.root.submit('delete_policy', 'DELETE_POLICY', { policyId: result(made).policyId });
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No limits yet').waitFor();
    await page.goto(consoleUrl(held.dev, 'limits'));
    await page.getByText('No limits yet').waitFor();
  });
});
