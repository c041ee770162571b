// A server that gets deliveries: it refuses what is not signed, answers before it
// works, and does not do the same event twice.
import { once } from 'node:events';
import { createServer } from 'node:http';

import { keysOf, verifyDelivery } from './verify.mjs';

const maxBody = 1 << 20;

// startReceiver calls handle with each new event, one after the other. Close it
// when it is no longer needed.
export async function startReceiver({ serverUrl, port = 0, handle }) {
  const find = keysOf(serverUrl);
  const seen = new Set(); // a real one keeps the ids with what it does, in its database
  let work = Promise.resolve();

  const server = createServer(async (request, response) => {
    const answer = (status, text = '') => response.writeHead(status).end(text);
    try {
      const body = await read(request);
      if (!body) return answer(413);
      const result = await verifyDelivery(find, request.headers, body);
      if (!result.ok) return answer(401, result.reason);
      answer(204);
      if (seen.has(result.eventId)) return;
      seen.add(result.eventId);
      const type = request.headers['x-turnkey-event-type'];
      work = work.then(() => handle({ id: result.eventId, type, content: JSON.parse(body) }));
      await work;
    } catch (error) {
      if (!response.headersSent) answer(500); // it will be delivered again
      else console.error(error);
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/webhooks`,
    close: () => server.close(),
  };
}

async function read(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    parts.push(part);
    size += part.length;
    if (size > maxBody) return undefined;
  }
  return Buffer.concat(parts);
}
