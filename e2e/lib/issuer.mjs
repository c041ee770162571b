// A real OpenID Connect issuer, in a process of its own: the command
// internal/test/oidctest/issuer, whose package says what it can do.
import { createHash } from 'node:crypto';
import { after, before } from 'node:test';

import { startCommand } from './command.mjs';

// A token is bound to a key by the hash of the key's text.
export const nonce = (publicKey) => createHash('sha256').update(publicKey).digest('hex');

// useIssuer gives the tests of the describe around it an issuer, when they run.
export function useIssuer() {
  const issuer = {};
  let command;
  before(async () => {
    command = await startCommand('./internal/test/oidctest/issuer');
    issuer.url = command.ready.url;
  });
  after(() => command?.stop());

  const post = async (path, body = {}) => {
    const reply = await fetch(issuer.url + path, { method: 'POST', body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`);
    return reply.json();
  };
  issuer.mint = async (claims, more) => (await post('/token', { claims, ...more })).token;
  issuer.rotate = () => post('/rotate');
  issuer.behave = (mode) => post('/behave', { mode });
  return issuer;
}
