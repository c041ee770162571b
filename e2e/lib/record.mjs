// Notes which client called which operation with success, for the table in
// docs/compatibility.md, and keeps requests with their replies, for docs/api. It
// only listens: Node tells of every request that the process makes. With RECORD
// set to a folder, what was seen goes into files there when the process ends.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Collection } from './examples.mjs';

const seen = new Set();
const examples = new Collection();
const signer = new AsyncLocalStorage();
const exchange = new AsyncLocalStorage();

// Of our own operations, those that are not called like their path.
const paths = { '/latchkey/v1/webhooks/test': 'test_webhook_endpoint' };
const operationOf = (path) => paths[path] ?? path.match(/^\/(?:public\/v1\/(?:submit|query)|latchkey\/v1)\/(\w+(?:\/\w+)?)$/)?.[1].replace('/', '_');

// note is for requests that another process makes, such as a browser.
export function note(path, client, status) {
  const operation = operationOf(path);
  if (operation && client && status === 200) seen.add(`${operation} ${client.replace(/(?!^)@[^@]*$/, '')}`);
}

// through runs something whose requests are those of a package that calls the
// server by means of another one, as signers do.
export const through = (client, run) => signer.run(client, run);

// exchanged runs a call that sends this body and returns the whole reply, and
// keeps both as an example. An activity that waits has nothing to show yet.
export async function exchanged(request, call) {
  const place = {};
  const reply = await exchange.run(place, call);
  const ended = ['ACTIVITY_STATUS_COMPLETED', 'ACTIVITY_STATUS_REJECTED'];
  if (!place.path.includes('/submit/') || ended.includes(reply.activity.status)) {
    examples.add(operationOf(place.path), JSON.parse(JSON.stringify({ request, reply })));
  }
  return reply;
}

// What was known when a request began, until it is answered. The name of a
// client is in the header that it sends.
const begun = new WeakMap();
const begins = (request, client) => {
  begun.set(request, { path: request.path, client, by: signer.getStore() });
  const place = exchange.getStore();
  if (place) place.path = request.path;
};
const answered = (request, status) => {
  const { path, client, by } = begun.get(request) ?? {};
  note(path ?? '', client, status);
  if (client) note(path ?? '', by, status);
};

// fetch of clients that bring their own
subscribe('http.client.request.start', ({ request }) => begins(request, String(request.getHeader('x-client-version') ?? '')));
subscribe('http.client.response.finish', ({ request, response }) => answered(request, response.statusCode));

// fetch of Node
subscribe('undici:request:create', ({ request }) => begins(request, header(request.headers)));
subscribe('undici:request:headers', ({ request, response }) => answered(request, response.statusCode));

// Node 18 gives the header as text, later ones as a list of names and values.
function header(headers) {
  const parts = Array.isArray(headers) ? headers : headers.split(/: |\r\n/);
  for (let i = 0; i + 1 < parts.length; i += 2) {
    if (String(parts[i]).toLowerCase() === 'x-client-version') return String(parts[i + 1]);
  }
  return undefined;
}

process.on('exit', () => {
  if (!process.env.RECORD || seen.size === 0) return;
  const name = randomUUID(); // the number of a process may come again
  const write = (ending, lines) => writeFileSync(join(process.env.RECORD, `${name}.${ending}`), lines.join(''));
  write(
    'txt',
    [...seen].sort().map((line) => `${line}\n`),
  );
  write('jsonl', examples.toLines());
});
