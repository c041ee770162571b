// Webhooks in the console, with a receiver that is there and one that is not.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, it } from 'node:test';

import { until } from '../../e2e/lib/until.mjs';
import { accessible, closed, furnish, keyOf, picture, signIn, storeName, useBrowser, useServer } from './lib.mjs';

describe(`webhooks on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  const received = [];
  let status = 204;
  let receiver;
  let page;

  before(async () => {
    receiver = createServer((request, reply) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        received.push({ id: request.headers['x-turnkey-event-id'], body: JSON.parse(body) });
        reply.writeHead(status).end();
      });
    });
    await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    await furnish(held, ['Ada', 'Bob']);
    page = await browser.open();
    await signIn(page, held.dev, keyOf(held.rootKey));
  });

  after(() => receiver?.close());

  it('creates a webhook, and says at the field what is wrong with it', async () => {
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByText('No webhooks yet').waitFor();
    await page.getByRole('button', { name: 'Create webhook' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Webhook name').fill('Back end');
    await form.getByLabel('URL').fill('ftp://example.com');
    await form.getByRole('button', { name: 'Create webhook' }).click();
    await form.locator('.problem').waitFor();
    await accessible(page, 'a webhook that is refused');
    await form.getByLabel('URL').fill(`http://127.0.0.1:${receiver.address().port}/events`);
    await form.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByRole('heading', { name: 'Back end' }).waitFor();
    await page.getByText('Delivering', { exact: true }).waitFor();
    await closed(page);
  });

  it('sends a test event, and shows deliveries and errors', async () => {
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText(/Taken after \d+ ms/).waitFor();
    assert.equal(received.length, 1);
    status = 500;
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText(/Not delivered/).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Retrying', { exact: true }).waitFor();
    await page.getByText('Last error:').waitFor();
    await accessible(page, 'webhooks');
    await picture(page, 'webhooks-retrying');
    status = 204;
    await page.getByText('Delivering', { exact: true }).waitFor();
  });

  it('delivers again what was asked for, and deletes', async () => {
    const before = received.length;
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
    await closed(page);
    await until(() => 'a delivery that was asked for again', () => received.length > before);
    await page.getByRole('button', { name: 'Delete Back end' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No webhooks yet').waitFor();
  });
});
