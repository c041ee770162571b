// Notes which client called which operation with success, for the table in
// docs/compatibility.md. It only listens: Node tells of every request that the
// process makes. With RECORD set to a folder, what was seen goes into a file
// there when the process ends.
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const seen = new Set();
const signer = new AsyncLocalStorage();

// note is for requests that somebody else makes, such as a browser.
export function note(path, client, status) {
  const operation = path.match(/^\/public\/v1\/(?:submit|query)\/(\w+)$/)?.[1];
  if (operation && client && status === 200) seen.add(`${operation} ${client.replace(/(?!^)@[^@]*$/, '')}`);
}

// through runs something whose requests are those of a package that calls the
// server by means of another one, as signers do.
export const through = (client, run) => signer.run(client, run);

// What was known when a request began, until it is answered. The name of a
// client is in the header that it sends.
const begun = new WeakMap();
const answered = (request, status) => {
  const { path, client, by } = begun.get(request) ?? {};
  note(path ?? '', client, status);
  if (client) note(path ?? '', by, status);
};

// fetch of clients that bring their own
subscribe('http.client.request.start', ({ request }) =>
  begun.set(request, { path: request.path, client: String(request.getHeader('x-client-version') ?? ''), by: signer.getStore() }),
);
subscribe('http.client.response.finish', ({ request, response }) => answered(request, response.statusCode));

// fetch of Node
subscribe('undici:request:create', ({ request }) =>
  begun.set(request, { path: request.path, client: header(request.headers), by: signer.getStore() }),
);
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
  if (process.env.RECORD && seen.size > 0) {
    writeFileSync(
      join(process.env.RECORD, `${process.pid}.txt`),
      [...seen]
        .sort()
        .map((line) => `${line}\n`)
        .join(''),
    );
  }
});
