// The session of docs/quickstart.md, step by step, and the first person of a
// production server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { binary, startServe } from '../../e2e/lib/server.mjs';
import { addAuthenticator, caller, closed, consoleUrl, keyOf, newKey, newPlace, picture, storeName, useBrowser, useServer } from './lib.mjs';

const quickstart = readFileSync(new URL('../../docs/quickstart.md', import.meta.url), 'utf8');
const phone = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

describe(`the session of the quickstart on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();

  it('goes from the printed address to a transfer that a second person approves', async () => {
    const desk = await browser.open();
    await desk.goto(/^Console\s+(\S+)$/m.exec(held.server.output())[1]);
    await desk.getByText('Nothing waits for you').waitFor();

    await desk.getByRole('link', { name: 'Wallets', exact: true }).click();
    await desk.getByRole('button', { name: 'Create wallet' }).click();
    await desk.getByLabel('Wallet name').fill('Treasury');
    await desk.getByRole('dialog').getByRole('button', { name: 'Create wallet' }).click();
    await desk.getByRole('link', { name: 'Treasury' }).waitFor();
    await closed(desk);
    await picture(desk, 'session-wallets', false);

    await desk.getByRole('link', { name: 'Users', exact: true }).click();
    await desk.getByRole('button', { name: 'Create user' }).click();
    await desk.getByLabel('User name').fill('Grace');
    await desk.getByLabel('E-mail address').fill('grace@example.com');
    await desk.getByRole('dialog').getByRole('button', { name: 'Create user' }).click();
    const link = await desk.getByTestId('enrolment-link').textContent();
    await desk.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await closed(desk);
    const grace = await browser.open(phone);
    await addAuthenticator(grace);
    await grace.goto(link);
    await grace.getByRole('button', { name: 'Register a passkey' }).waitFor();
    await picture(grace, 'session-enrol', false);
    await grace.getByRole('button', { name: 'Register a passkey' }).tap();
    await grace.getByText('Nothing waits for you').waitFor();

    await desk.getByRole('link', { name: 'Policies', exact: true }).click();
    await desk.getByRole('link', { name: 'Two of three' }).click();
    await desk.getByLabel('Policy name').fill('Two of us sign');
    await desk.getByRole('textbox', { name: 'Consensus' }).getByText('approvers').waitFor();
    await picture(desk, 'session-policy', false);
    await desk.getByRole('button', { name: 'Create policy' }).click();
    await desk.getByRole('link', { name: 'Two of us sign' }).waitFor();

    await desk.getByRole('link', { name: 'Organization', exact: true }).click();
    await desk.getByLabel('Grace').check();
    await desk.getByLabel('How many must agree').fill('2');
    await desk.getByRole('button', { name: 'Change the root quorum' }).click();
    await desk.getByRole('dialog').getByRole('button', { name: 'Change the root quorum' }).click();
    await closed(desk);

    await desk.getByRole('link', { name: 'Wallets', exact: true }).click();
    await desk.getByRole('link', { name: 'Treasury' }).click();
    await desk.getByRole('button', { name: /^Sign with 0x/ }).click();
    await desk.getByLabel('What to sign').selectOption('transaction');
    await desk.getByLabel('Unsigned transaction').fill(/^ +(02f0\w+)$/m.exec(quickstart)[1]);
    await desk.getByRole('dialog').getByRole('button', { name: 'Sign', exact: true }).click();
    await desk.getByText('It waits for approval by others').first().waitFor();
    await desk.getByRole('dialog').getByRole('link', { name: 'Details' }).click();
    await desk.getByText('Waiting for approval').waitFor();

    await grace.getByText('Send 1.5 ETH').waitFor();
    await grace.getByText('1 of 2: Root user; missing Grace').waitFor();
    await grace.getByText('New recipient').waitFor();
    await picture(grace, 'session-phone', false);
    await picture(desk, 'session-desk', false);
    await grace.getByRole('button', { name: 'Approve' }).tap();
    await grace.getByText('Nothing waits for you').waitFor();
    await desk.getByText('Completed', { exact: true }).waitFor();
    await desk.getByText('with a passkey').waitFor();
    await picture(desk, 'session-done');
    const { activities } = await caller(held.dev, keyOf(held.rootKey)).query('list_activities', { filterByType: ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2'] });
    assert.equal(activities[0].status, 'ACTIVITY_STATUS_COMPLETED');
    for (const page of [desk, grace]) await page.context().close();
  });
});

describe(`the first person on ${storeName}`, () => {
  const browser = useBrowser();

  it('registers a passkey with the link of init --enroll', async () => {
    const place = newPlace();
    const file = join(place.data, 'enrol.yaml');
    writeFileSync(file, `listen: 127.0.0.1:0\nstore: ${JSON.stringify(place.args[1] ?? 'sqlite:latchkey.db')}\n`);
    const made = JSON.parse(execFileSync(binary, ['init', '--config', file, '--organization', 'Acme', '--user', 'Ada', '--enroll'], { encoding: 'utf8' }));
    const server = await startServe(place, '', newKey());
    const link = made.enrolmentLink.replace(/^http:\/\/localhost:0/, new URL(consoleUrl(server.dev)).origin);
    const page = await browser.open();
    await addAuthenticator(page);
    await page.goto(link);
    await page.getByText('Welcome, Ada').waitFor();
    await page.getByRole('button', { name: 'Register a passkey' }).click();
    await page.getByText('Nothing waits for you').waitFor();
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await page.getByText('1 passkey').waitFor();
    await page.context().close();
    await server.end();
    place.remove();
  });
});
