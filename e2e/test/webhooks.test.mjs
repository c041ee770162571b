// Deliveries to webhook endpoints, made with every client, and verified by the
// published package and by Node's own Ed25519.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, describe, it } from 'node:test';

import { ApiKeyStamper } from '@turnkey/api-key-stamper';

import { flavours, send } from '../lib/clients.mjs';
import { checked, verified } from '../lib/deliveries.mjs';
import { exchanged, through } from '../lib/record.mjs';
import { storeName, useServer } from '../lib/server.mjs';
import { until } from '../lib/until.mjs';
import { connectUser } from '../lib/users.mjs';

// A receiver keeps every delivery, and answers with a status.
async function startReceiver() {
  const receiver = { deliveries: [], status: 200 };
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    receiver.deliveries.push({ headers: request.headers, body: Buffer.concat(parts), status: receiver.status });
    response.writeHead(receiver.status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  receiver.url = `http://127.0.0.1:${server.address().port}/hook`;
  receiver.close = () => server.close();
  receiver.taken = () => receiver.deliveries.filter(({ status }) => status === 200);
  return receiver;
}

describe(`webhooks on ${storeName}`, () => {
  const held = useServer();
  let keys;

  before(async () => {
    const reply = await fetch(`${held.dev.baseUrl}/public/v1/discovery/webhooks/jwks`);
    assert.match(reply.headers.get('cache-control'), /max-age=\d+/);
    ({ keys } = await reply.json());
    assert.ok(keys.length > 0);
  });

  const byHand = (path, request) =>
    exchanged(request, async () => {
      const body = JSON.stringify(request);
      const { status, reply } = await send({
        url: held.dev.baseUrl + path,
        body,
        stamp: await new ApiKeyStamper(held.rootKey).stamp(body),
      });
      assert.equal(status, 200, JSON.stringify(reply));
      return reply;
    });

  for (const flavour of flavours) {
    describe(flavour.name, () => {
      let receiver;
      let root;
      before(async () => {
        receiver = await startReceiver();
        root = connectUser(flavour, held.dev, held.rootKey, held.dev.userId);
      });
      after(() => receiver.close());

      it('gets every event, signed, and again', async () => {
        const { endpointId, webhookEndpoint } = await root.run('createWebhookEndpoint', {
          name: `${flavour.label} receiver`,
          url: receiver.url,
          subscriptions: [
            {
              eventType: 'ACTIVITY_UPDATES',
              filtersJson: JSON.stringify({ types: ['ACTIVITY_TYPE_CREATE_USER_TAG'] }),
              isActive: true,
            },
          ],
        });
        assert.deepEqual([webhookEndpoint.endpointId, webhookEndpoint.url, webhookEndpoint.isActive], [endpointId, receiver.url, true]);
        const made = [];
        const tag = async (n) => {
          const { id } = await root.client.submit('createUserTag', { userTagName: `${flavour.label} ${n}`, userIds: [] });
          made.push(id);
        };
        const arrived = (count) =>
          until(
            () => `${count} deliveries, of which there are ${receiver.taken().length}`,
            () => receiver.taken().length >= count,
          );
        await tag(1);
        await tag(2);
        await arrived(2);
        receiver.status = 503;
        await tag(3);
        await until(
          () => 'the failure',
          async () => (await listed()).state === 'RETRYING',
        );
        receiver.status = 200;
        await arrived(3);
        assert.deepEqual(
          receiver.taken().map(({ body }) => JSON.parse(body).id),
          made,
        );
        for (const delivery of receiver.deliveries) {
          const result = verified(keys, delivery);
          assert.deepEqual([result.ok, result.eventId], [true, delivery.headers['x-turnkey-event-id']], JSON.stringify(result));
          const forged = { ...delivery, body: Buffer.from(delivery.body.toString().replace('CREATE', 'DELETE')) };
          assert.equal(verified(keys, forged).reason, 'invalid_signature');
          assert.equal(checked(keys, delivery, 0).reason, 'stale_timestamp');
        }
        await through('@turnkey/crypto', () => listed());

        await root.run('updateWebhookEndpoint', { endpointId, name: `${flavour.label} paused`, url: receiver.url, isActive: false });
        assert.equal((await listed()).state, 'PAUSED');
        await root.run('updateWebhookEndpoint', { endpointId, isActive: true });
        if (flavour.name === '@turnkey/http') {
          await byHand('/public/v1/submit/replay_webhook_endpoint', {
            type: 'ACTIVITY_TYPE_REPLAY_WEBHOOK_ENDPOINT',
            timestampMs: String(Date.now()),
            organizationId: held.dev.organizationId,
            parameters: { endpointId, sinceMs: '1' },
          });
          await arrived(6);
          const ids = receiver.taken().map(({ headers }) => headers['x-turnkey-event-id']);
          assert.deepEqual(ids.slice(3, 6), ids.slice(0, 3));
          const reply = await byHand('/latchkey/v1/webhooks/test', { organizationId: held.dev.organizationId, endpointId });
          assert.equal(reply.delivered, true);
          assert.equal(receiver.deliveries.at(-1).headers['x-turnkey-event-type'], 'WEBHOOK_TEST');
          assert.equal(verified(keys, receiver.deliveries.at(-1)).ok, true);
        }
        assert.deepEqual(await root.run('deleteWebhookEndpoint', { endpointId }), { endpointId });
        assert.equal(await listed(), undefined);

        async function listed() {
          const { webhookEndpoints } = await root.query('listWebhookEndpoints');
          return webhookEndpoints.find((one) => one.endpointId === endpointId);
        }
      });
    });
  }
});
