// What is signed is taken, once; all else is refused.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';

import { client, server } from '../latchkey.mjs';
import { startReceiver } from '../receiver.mjs';
import { keysOf, maxAgeMs, verifyDelivery, verifyStandard } from '../verify.mjs';

describe('a receiver', () => {
  const admin = client();
  const ends = [];
  after(() => Promise.all(ends.map((end) => end())));

  const subscribe = async (url) => {
    const { endpointId } = await admin.createWebhookEndpoint({
      name: 'Receiver',
      url,
      subscriptions: [{ eventType: 'ACTIVITY_UPDATES', filtersJson: '{"types":["ACTIVITY_TYPE_CREATE_USER_TAG"]}' }],
    });
    ends.push(() => admin.deleteWebhookEndpoint({ endpointId }));
  };

  // One delivery, as it came.
  let delivery;
  before(async () => {
    const raw = createServer(async (request, response) => {
      const parts = [];
      for await (const part of request) parts.push(part);
      response.end();
      raw.emit('delivery', { headers: request.headers, body: Buffer.concat(parts) });
    });
    raw.listen(0, '127.0.0.1');
    await once(raw, 'listening');
    ends.push(() => raw.close());
    await subscribe(`http://127.0.0.1:${raw.address().port}/`);
    const came = once(raw, 'delivery');
    await admin.createUserTag({ userTagName: `raw ${Date.now()}`, userIds: [] });
    [delivery] = await came;
  });

  it('handles each event once', async () => {
    const events = [];
    let arrived;
    const came = new Promise((resolve) => (arrived = resolve));
    const receiver = await startReceiver({
      serverUrl: server.url,
      handle: (event) => {
        events.push(event);
        arrived();
      },
    });
    ends.push(() => receiver.close());
    await subscribe(receiver.url);
    const { userTagId } = await admin.createUserTag({ userTagName: `tag ${Date.now()}`, userIds: [] });
    await came;
    assert.equal(events[0].content.result.createUserTagResult.userTagId, userTagId);

    const post = (headers, body) => fetch(receiver.url, { method: 'POST', headers, body });
    const signed = Object.fromEntries(Object.entries(delivery.headers).filter(([name]) => /^(x-turnkey|webhook)-/.test(name)));
    for (const again of [1, 2]) assert.equal((await post(signed, delivery.body)).status, 204, `time ${again}`);
    assert.deepEqual(
      events.slice(1).map(({ id }) => id),
      [signed['x-turnkey-event-id']],
    );
    assert.equal((await post({}, delivery.body)).status, 401);
    assert.equal((await post(signed, `${delivery.body} `)).status, 401);
    assert.equal((await post({ ...signed, 'x-turnkey-event-id': 'another' }, delivery.body)).status, 401);
    assert.equal((await post(signed, 'x'.repeat(2 << 20))).status, 413);
    assert.equal(events.length, 2);
  });

  it('verifies both signatures, and refuses what was changed or is old', async () => {
    const find = keysOf(server.url);
    const { headers, body } = delivery;
    assert.equal((await verifyDelivery(find, headers, body)).ok, true);
    assert.equal(await verifyStandard(find, headers, body), true);
    const later = Date.now() + maxAgeMs + 60_000;
    for (const [name, changed, now] of [
      ['body', { headers, body: Buffer.concat([body, Buffer.from(' ')]) }],
      ['id', { headers: { ...headers, 'webhook-id': 'a', 'x-turnkey-event-id': 'a' }, body }],
      ['time', { headers: { ...headers, 'webhook-timestamp': '1', 'x-turnkey-timestamp': '1' }, body }],
      ['key', { headers: { ...headers, 'x-turnkey-signature-key-id': 'none' }, body }],
      ['signature', { headers: { ...headers, 'webhook-signature': 'v1,AAAA', 'x-turnkey-signature': '00' }, body }],
      ['age', { headers, body }, later],
    ]) {
      assert.equal((await verifyDelivery(find, changed.headers, changed.body, now)).ok, false, name);
      assert.equal(await verifyStandard(find, changed.headers, changed.body, now), false, name);
    }
  });
});
