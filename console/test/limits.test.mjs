// Limits over time in the console: made, filled, seen and deleted.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { accessible, consoleUrl, ethereum, furnish, keyOf, picture, result, signIn, signTransaction, storeName, useBrowser, useServer } from './lib.mjs';

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
  });

  it('shows what is used and left, as it changes', async () => {
    const root = org.root;
    await signTransaction(root, org.ethereum, ethereum({ to: '0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5', value: 1_500_000_000_000_000_000n }));
    await page.getByText('0.5 left').waitFor();
    assert.equal(await page.getByRole('meter').getAttribute('value'), '0.75');
    await accessible(page, 'limits');
    await picture(page, 'limits-used');
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
