// What a server acknowledged is there after it was stopped, or killed, and
// started again on the same data.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { flavours, newKey, send } from '../lib/clients.mjs';
import { newPlace, startServer, storeName } from '../lib/server.mjs';
import { shape } from '../lib/shapes.mjs';

const [http] = flavours;

// Everything that can be read, in full.
async function readAll(client) {
  const { users } = await client.query('getUsers');
  const { userTags } = await client.query('listUserTags');
  const { apiKeys } = await client.query('getApiKeys');
  const { configs } = await client.query('getOrganizationConfigs');
  const { activities } = await client.query('getActivities', { paginationOptions: { limit: '100' } });
  users.forEach(shape.user);
  userTags.forEach(shape.tag);
  activities.forEach(shape.activity);
  return { users, userTags, apiKeys, configs, activities, who: await client.query('getWhoami') };
}

describe(`restart on ${storeName}`, () => {
  for (const [name, halt] of [
    ['stopped with SIGTERM', (server) => server.stop()],
    ['killed', (server) => server.crash()],
  ]) {
    it(name, async () => {
      const place = newPlace();
      let server;
      try {
        server = await startServer(place);
        const first = server.dev;
        const rootKey = { apiPublicKey: first.apiPublicKey, apiPrivateKey: first.apiPrivateKey };
        let root = http.connect(first, rootKey);
        const key = newKey();
        const tag = await root.submit('createUserTag', { userTagName: 'kept', userIds: [first.userId] });
        const { userTagId } = tag.result.createUserTagResult;
        const request = await root.sign('createUsers', {
          users: [
            {
              userName: 'Grace',
              apiKeys: [{ apiKeyName: 'hers', publicKey: key.apiPublicKey, curveType: 'API_KEY_CURVE_P256' }],
              authenticators: [],
              oauthProviders: [],
              userTags: [userTagId],
            },
          ],
        });
        const created = await send(request);
        assert.equal(created.status, 200);
        const before = await readAll(root);
        await halt(server);

        server = await startServer(place);
        const { baseUrl, ...kept } = server.dev;
        const { baseUrl: old, ...expected } = first;
        assert.deepEqual(kept, expected);
        root = http.connect(server.dev, rootKey);
        assert.deepEqual(await readAll(root), before);
        const grace = await http.connect(server.dev, key).query('getWhoami');
        assert.equal(grace.userId, created.reply.activity.result.createUsersResult.userIds[0]);

        // A client that never saw the answer sends the same bytes again.
        const again = await send({ ...request, url: request.url.replace(old, baseUrl) });
        assert.equal(again.status, 200);
        assert.equal(again.reply.activity.id, created.reply.activity.id);

        // And it goes on from there.
        const next = await root.submit('createUserTag', { userTagName: 'new', userIds: [] });
        assert.equal(next.status, 'ACTIVITY_STATUS_COMPLETED');
        await assert.rejects(root.submit('createUserTag', { userTagName: 'kept', userIds: [] }), (e) => e.code === 6);
        await server.stop();
      } finally {
        await server?.end();
        place.remove();
      }
    });
  }
});
