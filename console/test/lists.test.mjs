// The screens with lists: creating, mistakes at their field, and what was changed.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { accessible, addAuthenticator, closed, consoleUrl, ethereum, furnish, picture, signIn, signTransaction, storeName, useBrowser, usePasskey, useServer } from './lib.mjs';

describe(`lists on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let org;
  let page;
  before(async () => {
    org = await furnish(held, ['Ada', 'Bob']);
    page = await browser.open();
    await signIn(page, held.dev, held.rootKey);
  });
  const open = (path) => page.goto(consoleUrl(held.dev, path));
  const dialog = () => page.getByRole('dialog');
  const section = (name) => page.locator('section').filter({ has: page.getByRole('heading', { name }) });

  it('creates a wallet, adds accounts, signs, renames and deletes', async () => {
    await open('wallets');
    await page.getByRole('button', { name: 'Create wallet' }).click();
    await page.getByLabel('Wallet name').fill('Treasury');
    await dialog().getByLabel('Solana').check();
    await accessible(page, 'create wallet');
    await picture(page, 'create-wallet');
    await dialog().getByRole('button', { name: 'Create wallet' }).click();
    await dialog().getByRole('alert').getByText('Treasury').waitFor(); // the name is taken, in the server's words
    await page.getByLabel('Wallet name').fill('Savings');
    await dialog().getByRole('button', { name: 'Create wallet' }).click();
    await closed(page);
    await page.getByRole('link', { name: 'Savings' }).click();
    await page.getByText("m/44'/501'/0'/0'").waitFor();
    await page.getByRole('button', { name: 'Add accounts' }).click();
    await dialog().getByLabel('How many').fill('3');
    await dialog().getByRole('button', { name: 'Add accounts' }).click();
    await page.getByText("m/44'/60'/3'/0/0").waitFor();
    await closed(page);
    await page.getByRole('button', { name: /^QR code of 0x/ }).first().click();
    await page.getByRole('img', { name: /^QR code of 0x/ }).waitFor();
    await picture(page, 'qr');
    await dialog().getByRole('button', { name: 'Close' }).click();
    await closed(page);
    await page.getByRole('button', { name: /^Sign with 0x/ }).first().click();
    await dialog().getByLabel('Message').fill('hello');
    await dialog().getByRole('button', { name: 'Sign', exact: true }).click();
    await dialog().getByText('Signed:').waitFor();
    await dialog().getByLabel('What to sign').selectOption('transaction');
    await dialog().getByLabel('Unsigned transaction').fill('nonsense');
    await dialog().getByRole('button', { name: 'Sign', exact: true }).click();
    await dialog().getByRole('alert').waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    await closed(page);
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('Wallet name').fill('Savings 2');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Savings 2' }).waitFor();
    await closed(page);
    await page.getByRole('button', { name: 'Delete wallet' }).click();
    await dialog().getByText('deleted for good').waitFor();
    await dialog().getByRole('button', { name: 'Delete wallet' }).click();
    await page.getByRole('heading', { name: 'Wallets', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Savings 2' }).waitFor({ state: 'detached' });
  });

  it('creates and deletes a private key', async () => {
    await open('private-keys');
    await page.getByRole('button', { name: 'Create private key' }).click();
    await dialog().getByLabel('Private key name').fill('Deployer');
    await dialog().getByRole('button', { name: 'Create private key' }).click();
    await page.getByRole('heading', { name: 'Deployer' }).waitFor();
    await closed(page);
    await page.getByRole('button', { name: 'Delete Deployer' }).click();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No private key yet').waitFor();
  });

  it('writes a policy from a template, with findings as it is written', async () => {
    await open('policies/new?template=0');
    await page.getByLabel('Policy name').fill('Two of us');
    const consensus = page.getByRole('textbox', { name: 'Consensus' });
    await consensus.getByText(org.people.Ada.userId).waitFor();
    const condition = page.getByRole('textbox', { name: 'Condition' });
    await condition.fill("activity.typ == 'x'");
    await page.getByRole('status').getByText('did you mean type?').waitFor();
    await picture(page, 'policy-findings');
    await accessible(page, 'policy with a finding');
    await condition.fill('');
    await condition.pressSequentially('activity.act');
    await page.getByRole('option', { name: /activity\.action/ }).waitFor();
    await picture(page, 'policy-completion');
    await page.keyboard.press('Escape');
    await condition.fill("activity.action == 'SIGN'");
    await page.getByRole('status').getByText('did you mean type?').waitFor({ state: 'detached' });
    await page.getByLabel('A recorded request').selectOption({ label: 'Create wallet “Treasury”' });
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('does not apply').waitFor();
    await page.getByLabel('Effect').selectOption('Allow');
    await page.getByRole('button', { name: 'Create policy' }).click();
    await page.getByRole('link', { name: 'Two of us' }).click();
    await page.getByRole('textbox', { name: 'Condition' }).fill("activity.action == 'EXPORT'");
    await page.getByText('What saving changes').waitFor();
    await picture(page, 'policy-changes');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Policies', level: 1 }).waitFor();
    await page.locator('li', { hasText: 'Two of us' }).getByText("activity.action == 'EXPORT'").waitFor();
    await page.getByRole('button', { name: 'Delete Two of us' }).click();
    await dialog().getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('link', { name: 'Two of us' }).waitFor({ state: 'detached' });
  });

  it('tags users and deletes one', async () => {
    await open('users');
    await page.getByRole('button', { name: 'Tags' }).click();
    await dialog().getByLabel('Tag name').fill('traders');
    await dialog().getByLabel('Bob').check();
    await dialog().getByRole('button', { name: 'Create tag' }).click();
    await dialog().getByText('traders').waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    await closed(page);
    await page.getByRole('row', { name: /Bob/ }).getByText('traders').waitFor();
    await page.getByRole('link', { name: 'Bob' }).click();
    await page.getByText('Two sign together').waitFor();
    await page.getByLabel('traders').click(); // unchecked when the server has it
    await page.locator('.badge', { hasText: 'traders' }).waitFor({ state: 'detached' });
    await accessible(page, 'user');
    await picture(page, 'user');
    await page.getByRole('button', { name: 'Delete user' }).click();
    await dialog().getByRole('button', { name: 'Delete user' }).click();
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Bob' }).waitFor({ state: 'detached' });
  });

  it('filters activities by the address, says why one failed, and exports', async () => {
    const refused = await signTransaction(org.people.Ada, org.ethereum, ethereum({ to: '0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5' })).catch((e) => e);
    void refused;
    await org.people.Ada.submit('create_wallet', 'CREATE_WALLET', { walletName: 'Not allowed', accounts: [] }).catch(() => undefined);
    await open('activities');
    await page.getByLabel('Status').selectOption('Failed');
    const failed = page.getByRole('link', { name: 'Create wallet “Not allowed”' });
    await failed.waitFor();
    assert.match(page.url(), /status=ACTIVITY_STATUS_FAILED/);
    await page.getByLabel('Search').fill('nothing has this');
    await page.getByText('No activity fits').waitFor();
    await page.getByLabel('Search').fill('not allowed');
    await page.reload();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export' }).click()]);
    const { readFileSync } = await import('node:fs');
    const text = readFileSync(await download.path(), 'utf8');
    assert.equal(text.trim().split('\r\n').length, 2);
    assert.match(text, /Not allowed/);
    await failed.click();
    await page.getByText('Why it failed').waitFor();
    await page.getByText("You don't have sufficient permissions").waitFor();
    await page.getByText('What the policies say now').waitFor();
    await page.getByText("activity.action == 'SIGN'").waitFor({ state: 'attached' });
    await picture(page, 'activity-failed');
  });

  it('finds a sub-organization and looks inside, reading only', async () => {
    await org.root.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V7', {
      subOrganizationName: 'Customer 1', rootQuorumThreshold: 1,
      rootUsers: [{ userName: 'Dora', userEmail: 'dora@example.com', apiKeys: [], authenticators: [], oauthProviders: [] }],
    });
    await open('sub-organizations');
    await page.getByLabel('Exactly this').fill('Customer 2');
    await page.getByText('None fits').waitFor();
    await page.getByLabel('Exactly this').fill('Customer 1');
    await page.getByRole('button', { name: 'Look inside Dora' }).click();
    await page.getByText('It can only be read from here').waitFor();
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await page.getByRole('link', { name: 'Dora' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Create user' }).count(), 0);
    await page.getByRole('button', { name: 'Back to the parent' }).click();
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await page.getByRole('link', { name: 'Ada' }).waitFor();
  });

  it('changes origins, and lets its own passkeys in whatever they are', async () => {
    await open('organization');
    await page.getByLabel('Origins of passkeys').fill('https://app.example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('webauthn origins').waitFor();
    const ada = await browser.open();
    await addAuthenticator(ada);
    await usePasskey(ada, held.dev, org.people.Ada);
    await ada.context().close();
  });

  it('sets and ends an IP allowlist, and says at the field what is wrong with one', async () => {
    await open('organization');
    const change = async (text) => {
      await page.getByLabel('Networks').fill(text);
      await page.getByRole('button', { name: 'Change the IP allowlist' }).click();
      await dialog().getByRole('button', { name: 'Change the IP allowlist' }).click();
      await closed(page);
    };
    await change('127.0.0.0/8 Here\nnot a network');
    await page.locator('.problem').waitFor();
    await accessible(page, 'an IP allowlist that is refused');
    await change('127.0.0.0/8 Here\n::1/128');
    await section('IP allowlist').getByText('on', { exact: true }).waitFor();
    const { allowlist } = await org.root.query('get_ip_allowlist');
    assert.deepEqual(allowlist.rules.map((r) => r.cidr).sort(), ['127.0.0.0/8', '::1/128']);
    await picture(page, 'ip-allowlist');
    await change('192.0.2.0/24'); // would shut out the one who asks
    await page.getByRole('alert').waitFor();
    await change('');
    await section('IP allowlist').getByText('off', { exact: true }).waitFor();
  });

  it('turns features on and off', async () => {
    await open('organization');
    const sms = section('Features').getByRole('listitem').filter({ hasText: 'Codes by SMS' });
    const turn = async (how) => {
      await sms.getByRole('button', { name: `Turn ${how} “Codes by SMS”` }).click();
      await dialog().getByRole('button', { name: `Turn ${how}`, exact: true }).click();
      await closed(page);
    };
    const has = async () => (await org.root.query('get_organization_configs')).configs.features.some((f) => f.name === 'FEATURE_NAME_SMS_AUTH');
    await sms.getByText('off', { exact: true }).waitFor();
    await turn('on');
    await sms.getByText('on', { exact: true }).waitFor();
    assert.equal(await has(), true);
    await accessible(page, 'features');
    await turn('off');
    await sms.getByText('off', { exact: true }).waitFor();
    assert.equal(await has(), false);
  });

  it('leaves the focus to who went on while a dialog closed', async () => {
    await open('organization');
    await page.getByLabel('How many must agree').fill('5');
    await page.getByRole('button', { name: 'Change the root quorum' }).click();
    await dialog().waitFor();
    const field = page.getByLabel('Organization name');
    // At once when the dialog is gone, as a person is not.
    await field.evaluate((e) => new MutationObserver((_, seen) => {
      if (document.querySelector('dialog')) return;
      seen.disconnect();
      e.focus();
    }).observe(document.body, { childList: true, subtree: true }));
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await closed(page);
    assert.equal(await field.evaluate((e) => e === document.activeElement), true);
  });

  it('renames the organization', async () => {
    await open('organization');
    await page.getByLabel('Organization name').fill('Acme');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: 'Acme' }).waitFor();
  });

  it('changes the root quorum, and shows what the server refuses', async () => {
    await open('organization');
    await page.getByLabel('How many must agree').fill('5');
    await page.getByRole('button', { name: 'Change the root quorum' }).click();
    await dialog().getByRole('button', { name: 'Change the root quorum' }).click();
    await dialog().getByRole('alert').waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await closed(page);
    await page.getByLabel('Ada').check();
    await page.getByLabel('How many must agree').fill('1');
    await page.getByRole('button', { name: 'Change the root quorum' }).click();
    await picture(page, 'quorum');
    await dialog().getByRole('button', { name: 'Change the root quorum' }).click();
    await dialog().waitFor({ state: 'detached' });
    assert.equal((await org.root.query('get_organization_configs')).configs.quorum.userIds.length, 2);
  });
});
