// Users use the page in a browser: they sign up, log in again, and sign. Others
// are refused.
import assert from 'node:assert/strict';
import { createECDH } from 'node:crypto';
import { after, before, describe, it } from 'node:test';

import { Turnkey } from '@turnkey/sdk-server';
import { verifyMessage } from 'viem';

import { ethereumAccount, startApp } from '../app.mjs';
import { server } from '../latchkey.mjs';
import { startBrowser } from './chromium.mjs';

// A client of the application's server, in its own organization or a user's.
const serverIn = (defaultOrganizationId, key = server) => new Turnkey({ ...server, ...key, defaultOrganizationId }).apiClient();

describe('the page', () => {
  let app;
  let browser;
  const users = {}; // name to {passkeys, organizationId, address}

  before(async () => {
    [app, browser] = await Promise.all([startApp({ ...server, port: 0 }), startBrowser()]);
  });
  after(async () => {
    await browser?.stop();
    await app?.stop();
  });

  // What a user does and sees.
  const visit = async () => {
    await browser.open(app.url);
    await browser.until(() => document.body?.dataset.ready === 'true');
  };
  const fill = (id, text) => browser.run((id, text) => void (document.getElementById(id).value = text), id, text);
  const press = (form) => browser.run((form) => document.getElementById(form).requestSubmit(), form);
  const see = (id) => browser.until((id) => document.getElementById(id).textContent, id);
  const seen = (id) => browser.run((id) => document.getElementById(id).textContent, id);

  const signUp = async (name) => {
    const list = await browser.passkeys();
    await visit();
    await fill('new-name', name);
    await press('sign-up');
    const address = await see('address');
    assert.equal(await seen('name'), name);
    const { organizationIds } = await serverIn(server.organizationId).getSubOrgIds({
      filterType: 'WALLET_ACCOUNT_ADDRESS',
      filterValue: address,
    });
    assert.equal(organizationIds.length, 1);
    return { name, list, address, organizationId: organizationIds[0] };
  };

  it('a user signs up with a passkey, and signs with it', async () => {
    users.ada = await signUp('Ada');
    await fill('message', 'Hello, wörld');
    await press('sign');
    const signature = await see('signature');
    assert.ok(await verifyMessage({ address: users.ada.address, message: 'Hello, wörld', signature }));
    assert.equal(await seen('problem'), '');
  });

  it('the user logs in after a reload, by the passkey alone', async () => {
    await visit();
    assert.equal(await seen('address'), '');
    assert.equal(await browser.run(() => localStorage.length + sessionStorage.length + document.cookie.length), 0);
    await press('log-in');
    assert.equal(await see('address'), users.ada.address);
    assert.equal(await seen('name'), 'Ada');
    await fill('message', 'back again');
    await press('sign');
    assert.ok(await verifyMessage({ address: users.ada.address, message: 'back again', signature: await see('signature') }));
    await press('log-out');
    await browser.until(() => document.getElementById('inside').hidden);
    users.ada.passkeys = await users.ada.list();
    assert.equal(users.ada.passkeys.length, 1);
  });

  it('another user has another wallet, even with the same name', async () => {
    users.ben = await signUp('Ada');
    assert.notEqual(users.ben.address, users.ada.address);
    assert.notEqual(users.ben.organizationId, users.ada.organizationId);
  });

  it('the passkey of one user is refused in the wallet of another', async () => {
    // Ben's passkey is in the browser, and all that is public about Ada is known.
    const attempt = ({ organizationId, address }) =>
      browser.run(
        (wallet) =>
          import('/wallet.js')
            .then(({ sign }) => sign(wallet, 'mine now'))
            .catch((error) => `refused: ${error.message}`),
        { organizationId, address },
      );
    const { ada, ben } = users;
    assert.match(await attempt(ben), /^0x/);
    assert.match(await attempt(ada), /^refused: .*error 16: credential ID could not be found/);
    // Nor is Ada's address known in Ben's organization.
    assert.match(await attempt({ ...ben, address: ada.address }), /^refused: .*error 5: no wallet account/);

    // With Ada's passkey the same request is accepted: the passkey was the reason.
    const list = await browser.passkeys(ada.passkeys);
    assert.match(await attempt(ada), /^0x/);
    ada.passkeys = await list(); // it counts its signatures
  });

  it('an unregistered passkey does not log in', async () => {
    const list = await browser.passkeys();
    await visit();
    await browser.run(() =>
      navigator.credentials
        .create({
          publicKey: {
            challenge: new Uint8Array(32),
            rp: { id: 'localhost', name: 'x' },
            user: { id: new Uint8Array(16), name: 'x', displayName: 'x' },
            pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
            authenticatorSelection: { residentKey: 'required' },
          },
        })
        .then(() => true),
    );
    assert.equal((await list()).length, 1);
    await press('log-in');
    assert.match(await see('problem'), /error 16: credential ID could not be found[^{]*$/);
    assert.equal(await seen('address'), '');
  });

  it('the server of the application can read, and cannot sign', async () => {
    const { ada } = users;
    const client = serverIn(ada.organizationId);
    assert.equal((await client.getWallets()).wallets.length, 1);
    await assert.rejects(
      client.signRawPayload({
        signWith: ada.address,
        payload: '00',
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_KECCAK256',
      }),
      /organization mismatch/,
    );
    // Nor give itself a credential there.
    const { users: members } = await client.getUsers();
    assert.equal(members.length, 1);
    await assert.rejects(
      client.createApiKeys({
        userId: members[0].userId,
        apiKeys: [{ apiKeyName: 'x', publicKey: server.apiPublicKey, curveType: 'API_KEY_CURVE_P256' }],
      }),
      /organization mismatch/,
    );
  });

  it('the server needs only a key that may create organizations', async () => {
    const root = serverIn(server.organizationId);
    const pair = createECDH('prime256v1');
    pair.generateKeys();
    const key = {
      apiPublicKey: pair.getPublicKey('hex', 'compressed'),
      apiPrivateKey: pair.getPrivateKey('hex').padStart(64, '0'),
    };
    const { userIds } = await root.createUsers({
      users: [
        {
          userName: 'Sign-up',
          apiKeys: [{ apiKeyName: 'server', publicKey: key.apiPublicKey, curveType: 'API_KEY_CURVE_P256' }],
          authenticators: [],
          oauthProviders: [],
          userTags: [],
        },
      ],
    });
    await root.createPolicy({
      policyName: 'Sign-up opens organizations',
      effect: 'EFFECT_ALLOW',
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8'",
      consensus: `approvers.any(user, user.id == '${userIds[0]}')`,
      notes: '',
    });
    const first = app;
    try {
      app = await startApp({ ...server, ...key, port: 0 });
      assert.match((await signUp('Cleo')).address, /^0x/);
    } finally {
      await app.stop();
      app = first;
    }
    const limited = serverIn(server.organizationId, key);
    await assert.rejects(limited.createWallet({ walletName: 'x', accounts: [ethereumAccount] }), { code: 7 });
  });

  it('a list of origins keeps passkeys of other pages out', async () => {
    const root = serverIn(server.organizationId);
    const name = 'FEATURE_NAME_WEBAUTHN_ORIGINS';
    try {
      await root.setOrganizationFeature({ name, value: 'https://app.example.com' });
      await browser.passkeys(users.ada.passkeys);
      await visit();
      await press('log-in');
      assert.match(await see('problem'), /origin/);
      await root.setOrganizationFeature({ name, value: `https://app.example.com,${new URL(app.url).origin}` });
      await press('log-in');
      assert.equal(await see('address'), users.ada.address);
    } finally {
      await root.removeOrganizationFeature({ name });
    }
  });

  it('what it is sent is checked', async () => {
    const post = async (body) => {
      const reply = await fetch(`${app.url}wallets`, { method: 'POST', body });
      return { status: reply.status, text: await reply.text() };
    };
    const base64url = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const [passkey] = users.ada.passkeys;
    const attestation = {
      credentialId: passkey.credentialId,
      clientDataJson: base64url({ type: 'webauthn.create', challenge: 'AAAA', origin: app.url }),
      attestationObject: 'AAAA',
      transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL'],
    };
    const before = (await serverIn(server.organizationId).getSubOrgIds()).organizationIds.length;
    for (const [name, body] of [
      ['nothing', ''],
      ['no JSON', 'hello'],
      ['null', 'null'],
      ['no name', JSON.stringify({ challenge: 'AAAA', attestation })],
      ['no passkey', JSON.stringify({ name: 'Eve' })],
      ['a passkey that was made up', JSON.stringify({ name: 'Eve', challenge: 'AAAA', attestation })],
      ['too much', JSON.stringify({ name: 'x'.repeat(100_000) })],
    ]) {
      const { status, text } = await post(body);
      assert.equal(status, 400, `${name}: ${text}`);
      assert.ok(JSON.parse(text).problem, name);
    }
    assert.equal((await serverIn(server.organizationId).getSubOrgIds()).organizationIds.length, before);
  });

  it('nothing that it serves holds the key', async () => {
    const seenPaths = await browser.run(() => performance.getEntriesByType('resource').map((entry) => entry.name));
    const pages = [...new Set([app.url, `${app.url}wallet.js`, ...seenPaths])].filter((url) => url.startsWith(app.url));
    assert.ok(pages.length >= 5, pages.join(' '));
    for (const url of pages) {
      const reply = await fetch(url);
      assert.equal(reply.status, 200, url);
      assert.ok(!(await reply.text()).includes(server.apiPrivateKey), url);
      assert.match(reply.headers.get('content-security-policy'), /default-src 'none'/);
    }
    for (const path of ['app.mjs', 'server.mjs', 'package.json', '../app.mjs', '%2e%2e/app.mjs']) {
      assert.equal((await fetch(`${app.url}${path}`)).status, 404, path);
    }
  });
});
