// Has events delivered to a receiver of its own, and shows them.
import { client, server } from './latchkey.mjs';
import { startReceiver } from './receiver.mjs';

const admin = client();
let arrived;
const next = () => new Promise((resolve) => (arrived = resolve));
const receiver = await startReceiver({
  serverUrl: server.url,
  handle: ({ type, content }) => {
    console.log(`got ${type}: ${content.type} is ${content.status}`);
    arrived?.();
  },
});

const { endpointId } = await admin.createWebhookEndpoint({
  name: 'Example receiver',
  url: receiver.url,
  subscriptions: [{ eventType: 'ACTIVITY_UPDATES', filtersJson: JSON.stringify({ types: ['ACTIVITY_TYPE_CREATE_USER_TAG'] }) }],
});
console.log(`endpoint ${endpointId}`);

for (const userTagName of ['drivers', 'packers']) {
  const event = next();
  const { userTagId } = await admin.createUserTag({ userTagName: `${userTagName} ${Date.now()}`, userIds: [] });
  console.log(`made tag ${userTagId}`);
  await event;
}

const forged = await fetch(receiver.url, { method: 'POST', body: '{"type":"ACTIVITY_TYPE_CREATE_USER_TAG"}' });
console.log(`an unsigned event is refused: HTTP ${forged.status} ${await forged.text()}`);

await admin.deleteWebhookEndpoint({ endpointId });
receiver.close();
