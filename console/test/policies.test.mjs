// The officer who writes a policy: templates, and what a draft would have done to the
// requests of the last days and to cases from a file.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { accessible, consoleUrl, ethereum, furnish, keyOf, picture, signIn, signTransaction, storeName, useBrowser, useServer } from './lib.mjs';

const supplier = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

describe(`policies on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let org;
  let page;
  before(async () => {
    org = await furnish(held, ['Ada', 'Bob']);
    for (const [nonce, value] of [[0, 10n ** 18n], [1, 5n * 10n ** 18n]]) await signTransaction(org.people.Ada, org.ethereum, ethereum({ nonce, to: supplier, value }));
    page = await browser.open();
    await signIn(page, held.dev, keyOf(held.rootKey), 'policies');
  });
  const open = (path) => page.goto(consoleUrl(held.dev, path));
  const expression = (name) => page.getByRole('textbox', { name, exact: true });

  it('says what each policy did lately', async () => {
    await page.locator('li', { hasText: 'Two sign together' }).getByText(/Of the last \d+ requests: waits for votes 2×/).waitFor();
  });

  it('has six templates, each of which the server understands', async () => {
    const names = ['Two of three', 'Spending limit', 'Allowlist of recipients', 'One contract function', 'Working hours', 'Agent'];
    for (const name of names) {
      await open('policies');
      const checked = page.waitForResponse((r) => r.url().endsWith('/latchkey/v1/explain'));
      await page.getByRole('link', { name }).click();
      await expression('Condition').waitFor();
      const reply = await checked;
      assert.equal(reply.status(), 200, `${name}: ${await reply.text()}`);
      assert.notEqual(await page.getByLabel('Policy name').inputValue(), '');
    }
  });

  it('back-tests a draft among the other policies', async () => {
    await open('policies/new');
    await page.getByLabel('Policy name').fill('Ada pays the supplier');
    await expression('Condition').fill(`activity.kind == 'SIGN_TRANSACTION' && eth.tx.to == '${supplier}' && eth.tx.value <= 1000000000000000000`);
    await expression('Consensus').fill(`approvers.any(user, user.id == '${org.people.Ada.userId}')`);
    await page.getByRole('button', { name: 'Back-test the last 30 days' }).click();
    await page.getByText(/^1 of \d+ requests would have gone another way\.$/).waitFor();
    const changed = page.locator('details', { hasText: 'Send 1 ETH' });
    await changed.getByText('would wait').waitFor();
    await changed.getByText('allowed').waitFor();
    await changed.locator('summary').first().click();
    await changed.getByText('Ada pays the supplier').waitFor();
    await accessible(page, 'back-test');
    await picture(page, 'policy-backtest');
    await expression('Condition').fill("activity.kind == 'SIGN_TRANSACTION' && eth.tx.value > 999");
    await page.getByText('The policy was changed since.').waitFor();
    await page.getByLabel('Effect').selectOption('Deny');
    await expression('Consensus').fill('');
    await page.getByRole('button', { name: 'Back-test the last 30 days' }).click();
    await page.getByText(/^2 of \d+ requests would have gone another way\.$/).waitFor();
    await expression('Condition').fill('eth.tx.valu > 1');
    await page.getByRole('button', { name: 'Back-test the last 30 days' }).click();
    await page.getByRole('alert').getByText('did you mean value?').waitFor();
  });

  const file = `
wallets:
  - name: Treasury
    accounts:
      - {name: main}
cases:
  - name: a small payment
    operation: sign_transaction
    parameters:
      type: TRANSACTION_TYPE_ETHEREUM
      signWith: "\${account.main}"
      unsignedTransaction: "${ethereum({ to: supplier, value: 10n ** 18n })}"
    submitter: Ada
    expect: ALLOW
  - name: a large payment
    operation: sign_transaction
    parameters:
      type: TRANSACTION_TYPE_ETHEREUM
      signWith: "\${account.main}"
      unsignedTransaction: "${ethereum({ to: supplier, value: 5n * 10n ** 18n })}"
    submitter: Ada
    expect: PENDING
    canApprove: [Root user, Bob]
  - name: a guess that is wrong
    operation: create_wallet
    parameters: {walletName: W, accounts: []}
    submitter: Bob
    expect: ALLOW
`;

  it('decides the cases of a file, and says what is wrong with a file', async () => {
    await open('policies/new');
    await page.getByLabel('Policy name').fill('Ada pays the supplier');
    await expression('Condition').fill(`activity.kind == 'SIGN_TRANSACTION' && eth.tx.to == '${supplier}' && eth.tx.value <= 1000000000000000000`);
    await expression('Consensus').fill(`approvers.any(user, user.id == '${org.people.Ada.userId}')`);
    const run = async (content) => {
      await page.getByLabel('Choose a file of cases').setInputFiles({ name: 'cases.yaml', mimeType: 'application/yaml', buffer: Buffer.from(content) });
      await page.getByText('Read from cases.yaml.').waitFor();
      await page.getByRole('button', { name: 'Run the cases' }).click();
    };
    await run(file);
    await page.getByText('2 of 3 cases are decided as expected.').waitFor();
    await page.locator('details', { hasText: 'a guess that is wrong' }).getByText('Expected: allowed.').waitFor();
    await accessible(page, 'cases');
    await picture(page, 'policy-cases');
    for (const [content, words] of [
      ['cases: [', 'at line 1'],
      ['policies: []', 'no list of cases'],
      ['cases: [{name: x, operation: no_such, parameters: {}, submitter: Ada, expect: ALLOW}]', 'Case x: operation'],
      ['cases: [{name: x, operation: create_wallet, parameters: {}, submitter: Zoe, expect: ALLOW}]', 'no user called Zoe'],
      ['cases: [{name: x, operation: create_wallet, parameters: {}, submitter: Ada, expect: MAYBE}]', 'Case x: expect'],
    ]) {
      await run(content);
      await page.getByRole('alert').getByText(words).waitFor();
    }
  });
});
