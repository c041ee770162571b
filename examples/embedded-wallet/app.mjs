// The application's own server. It serves the page, and creates a wallet for
// each user who signs up. It holds an API key of the parent organization; the wallets
// belong to the users, and it cannot use them.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

import { Turnkey, TurnkeyRequestError } from '@turnkey/sdk-server';
import { build } from 'esbuild';

const file = (name) => fileURLToPath(new URL(`page/${name}`, import.meta.url));

export const ethereumAccount = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

class Refusal extends Error {}

const invalidArgument = 3; // Latchkey's code of a request that cannot be right
const largestBody = 64 * 1024;

async function read(request) {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > largestBody) throw new Refusal('this is too much');
  }
  try {
    return JSON.parse(body) ?? {};
  } catch {
    throw new Refusal('this is not JSON');
  }
}

// openWallet makes an organization with one root user, whose only credential is
// the passkey, and with one wallet.
async function openWallet(parent, { name, challenge, attestation }) {
  if (typeof name !== 'string' || name.trim() === '' || name.length > 64) {
    throw new Refusal('a name of 1 to 64 characters is wanted');
  }
  if (typeof challenge !== 'string' || !attestation) throw new Refusal('a passkey is wanted');
  const { subOrganizationId, wallet } = await parent.createSubOrganization({
    subOrganizationName: `Wallet of ${name}`,
    rootQuorumThreshold: 1,
    rootUsers: [
      {
        userName: name,
        apiKeys: [],
        authenticators: [{ authenticatorName: 'Passkey', challenge, attestation }],
        oauthProviders: [],
      },
    ],
    wallet: { walletName: 'Main', accounts: [ethereumAccount] },
  });
  return { organizationId: subOrganizationId, name, address: wallet.addresses[0] };
}

// startApp serves the application at localhost, which browsers hold to be
// secure: elsewhere, passkeys need https.
export async function startApp({ apiBaseUrl, organizationId, apiPublicKey, apiPrivateKey, port }) {
  const parent = new Turnkey({ apiBaseUrl, defaultOrganizationId: organizationId, apiPublicKey, apiPrivateKey }).apiClient();

  const { outputFiles } = await build({
    entryPoints: [file('app.js'), file('wallet.js')],
    outdir: '/',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    logLevel: 'error',
  });
  const served = new Map([
    ['/', ['text/html', readFileSync(file('index.html'))]],
    ['/style.css', ['text/css', readFileSync(file('style.css'))]],
    // What the page must know. None of it is secret.
    ['/config.json', ['application/json', JSON.stringify({ apiBaseUrl, organizationId, rpId: 'localhost' })]],
    ...outputFiles.map(({ path, contents }) => [path, ['text/javascript', contents]]),
  ]);

  // A page that can ask for signatures loads nothing from elsewhere, and talks
  // only to the two servers.
  const contentSecurityPolicy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src 'self' ${apiBaseUrl}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

  const server = createServer(async (request, response) => {
    const reply = (status, type, body) => response.writeHead(status, { 'Content-Type': `${type}; charset=utf-8` }).end(body);
    response.setHeader('Content-Security-Policy', contentSecurityPolicy);
    try {
      if (request.method === 'POST' && request.url === '/wallets') {
        const wallet = await openWallet(parent, await read(request));
        reply(201, 'application/json', JSON.stringify(wallet));
      } else if (request.method === 'GET' && served.has(request.url)) {
        reply(200, ...served.get(request.url));
      } else {
        reply(404, 'application/json', JSON.stringify({ problem: 'there is nothing here' }));
      }
    } catch (error) {
      // What Latchkey says about a bad passkey is for the user to read; other
      // errors are not.
      const theirs = error instanceof Refusal || (error instanceof TurnkeyRequestError && error.code === invalidArgument);
      if (!theirs) console.error(error);
      const problem = theirs ? error.message : 'something went wrong';
      reply(theirs ? 400 : 500, 'application/json', JSON.stringify({ problem }));
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${server.address().port}/`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
