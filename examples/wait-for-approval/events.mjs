// Events of an organization: pages of the feed, and the stream. They are our own
// operations, which no published client has a call for; the stamp is the same.
import { ApiKeyStamper } from '@turnkey/api-key-stamper';

import { server } from './latchkey.mjs';

async function post(path, key, body) {
  const text = JSON.stringify(body);
  const stamp = await new ApiKeyStamper({ apiPublicKey: key.publicKey, apiPrivateKey: key.privateKey }).stamp(text);
  const headers = { 'content-type': 'application/json', [stamp.stampHeaderName]: stamp.stampHeaderValue };
  const reply = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: text });
  if (!reply.ok) throw new Error((await reply.json()).message);
  return reply;
}

// Where the feed ends now: what happens from here on comes after this cursor.
export async function now(organizationId, key) {
  const reply = await post('/latchkey/v1/events', key, { organizationId, after: 'now' });
  return (await reply.json()).cursor;
}

// Events after a cursor, as they happen. When the connection is lost it goes on
// after the last event: nothing is missed and nothing comes twice.
export async function* follow(organizationId, key, after) {
  for (;;) {
    const reply = await post('/latchkey/v1/events/stream', key, { organizationId, after });
    try {
      for await (const { id, event, data } of parts(reply.body)) {
        if (event === 'error') throw Object.assign(new Error(JSON.parse(data).message), { final: true });
        if (!data) continue; // a comment: the server is still there
        yield JSON.parse(data);
        after = id;
      }
    } catch (error) {
      if (error.final) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

// The parts of a stream of server-sent events: an empty line ends each.
async function* parts(body) {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = text.slice(0, end).split('\n').map((line) => line.match(/^(\w+): (.*)$/)?.slice(1) ?? []);
      text = text.slice(end + 2);
      yield Object.fromEntries(fields.filter(([name]) => name));
    }
  }
}
