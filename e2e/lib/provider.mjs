// A real provider of OAuth 2.0, in a process of its own: the command
// internal/test/oauth2test/provider, whose package says what it can do.
import { createHash, randomBytes } from 'node:crypto';
import { after, before } from 'node:test';

import { startCommand } from './command.mjs';

// useProvider gives the tests of the describe around it a provider, when they run.
export function useProvider() {
  const provider = {};
  let command;
  before(async () => {
    command = await startCommand('./internal/test/oauth2test/provider');
    provider.url = command.ready.url;
  });
  after(() => command?.stop());

  const post = async (path, body) => {
    const reply = await fetch(provider.url + path, { method: 'POST', body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`);
  };
  provider.register = (clientId, clientSecret) => post('/clients', { clientId, clientSecret });

  // What `latchkey dev` needs to know to take it for X and for Discord.
  provider.flags = () => [
    `--oauth2-provider=x=${provider.url}/token,${provider.url}/users/me`,
    `--oauth2-provider=discord=${provider.url}/token,${provider.url}/users/@me`,
  ];

  // logIn is what a browser does: it comes back with a code.
  provider.logIn = async (clientId, redirectUri, user) => {
    const codeVerifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      state: 'state',
      code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
      user,
    });
    const reply = await fetch(`${provider.url}/authorize?${query}`, { redirect: 'manual' });
    const authCode = new URL(reply.headers.get('location')).searchParams.get('code');
    return { authCode, codeVerifier, redirectUri };
  };
  return provider;
}
