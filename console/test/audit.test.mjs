// The log in the console: a receipt of an activity is verified in the page, kept as a
// file, verified again from it, and refused if anything in it was changed.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { until } from '../../e2e/lib/until.mjs';
import { accessible, caller, closed, consoleUrl, ethereum, furnish, keyOf, picture, signIn, signTransaction, startServer, storeName, useBrowser, useServer } from './lib.mjs';

describe(`the log on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let page;
  let waits;
  let receipt; // the file's content

  before(async () => {
    const org = await furnish(held, ['Ada', 'Bob']);
    waits = await signTransaction(org.people.Ada, org.ethereum, ethereum({ to: '0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5', value: 1n }));
    page = await browser.open();
    await signIn(page, held.dev, keyOf(held.rootKey));
  });

  let files = 0;
  const check = async (content) => {
    const name = `receipt-${++files}.json`;
    await page.getByLabel('Choose a receipt').setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(content) });
    await page.getByText(`Read from ${name}.`).waitFor();
    await page.getByRole('button', { name: 'Verify', exact: true }).click();
  };

  it('gives the receipt of an activity, and verifies it', async () => {
    await page.goto(consoleUrl(held.dev, `activities/${waits.id}`));
    await page.getByRole('button', { name: 'Get receipt' }).click();
    await page.getByText(/Verified: entry [0-9,]+ of the log/).waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download receipt' }).click()]);
    assert.equal(download.suggestedFilename(), `receipt-${waits.id}.json`);
    receipt = JSON.parse(readFileSync(await download.path(), 'utf8')).receipt;
    const record = JSON.parse(receipt.record);
    assert.equal(record.activityId, waits.id);
    assert.equal(record.status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
    await accessible(page, 'activity with its receipt');
    await picture(page, 'receipt');
  });

  it('shows the log, and verifies a receipt from a file', async () => {
    await page.getByRole('link', { name: 'Audit', exact: true }).click();
    await page.getByText('The newest checkpoint is signed by the log’s key.').waitFor();
    await page.getByText('No witness has cosigned').waitFor();
    await page.getByText('fits what it signed before').waitFor();
    for (const content of [{ receipt }, receipt]) {
      await check(JSON.stringify(content));
      await page.getByText(/Verified: entry/).waitFor();
    }
    await accessible(page, 'audit');
    await picture(page, 'audit');
  });

  it('refuses a receipt in which anything was changed', async () => {
    const digit = (text, at) => text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1);
    const lines = receipt.proof.split('\n');
    const sized = lines.findIndex((line) => line.startsWith('latchkey/')) + 1;
    const changedLine = (n, line) => lines.with(n, line).join('\n');
    for (const [content, words] of [
      ['{', 'it is not JSON'],
      [JSON.stringify({ ...receipt, salt: undefined }), 'it has not the members'],
      [JSON.stringify({ ...receipt, salt: receipt.salt.slice(2) }), 'its proof or its salt is damaged'],
      [JSON.stringify({ ...receipt, salt: digit(receipt.salt, 5) }), 'is not in the tree'],
      [JSON.stringify({ ...receipt, record: receipt.record.replace('CONSENSUS_NEEDED', 'COMPLETED') }), 'is not in the tree'],
      [JSON.stringify({ ...receipt, proof: changedLine(1, 'index 0') }), 'is not in the tree'],
      [JSON.stringify({ ...receipt, proof: changedLine(sized, String(Number(lines[sized]) + 1)) }), 'is not signed by this server'],
      [JSON.stringify({ ...receipt, proof: changedLine(sized - 1, 'latchkey/other') }), 'is of the log latchkey/other'],
      [JSON.stringify({ ...receipt, proof: receipt.proof.slice(0, receipt.proof.indexOf('—')) }), 'not signed by this server'],
    ]) {
      await check(content);
      await page.getByRole('alert').getByText(words).waitFor();
      assert.equal(await page.getByText(/Verified: entry/).count(), 0);
    }
  });
});

// On SQLite, where a file can be put back.
describe('a database that is an older one', () => {
  const browser = useBrowser();
  const data = mkdtempSync(join(tmpdir(), 'latchkey-older-'));
  const place = { data, args: [] };
  let server;
  after(async () => {
    await server?.end();
    rmSync(data, { recursive: true });
  });

  it('says that the log contradicts what was signed, in the server’s words', async () => {
    const file = join(data, 'latchkey.db');
    server = await startServer(place);
    await server.stop();
    copyFileSync(file, `${file}.older`);
    server = await startServer(place);
    const root = keyOf(server.dev);
    const size = () => fetch(`${server.baseUrl}/latchkey/v1/log/checkpoint`).then((r) => r.text()).then((note) => Number(note.split('\n')[1]));
    const older = await size();
    await caller(server.dev, root).submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: 'newer', userIds: [] });
    await until(() => 'a checkpoint with the newer tag', async () => (await size()) > older);
    await server.stop();
    copyFileSync(`${file}.older`, file);
    server = await startServer(place, [], 503);

    const page = await browser.open();
    await signIn(page, server.dev, root, 'wallets');
    await page.getByRole('button', { name: 'Create wallet' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Wallet name').fill('more');
    await dialog.getByRole('button', { name: 'Create wallet' }).click();
    await dialog.getByRole('alert').getByText('carries out nothing').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await closed(page);
    await page.getByRole('link', { name: 'Audit', exact: true }).click();
    await page.getByText('/public/v1/submit/create_wallet').waitFor();
    await page.getByText('not ready:').waitFor();
    await accessible(page, 'audit with findings');
    await picture(page, 'audit-findings');
  });
});
