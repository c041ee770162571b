// The frames among pages and messages that mean no good, in Chromium.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';

import { servePage, usePage } from '../lib/chromium.mjs';
import { flavours } from '../lib/clients.mjs';
import { callFrame, closeFrame, frameAddresses, openFrame } from '../lib/frames.mjs';
import { binary, storeName, useServer } from '../lib/server.mjs';
import { connectUser, createOrganization } from '../lib/users.mjs';

const [http] = flavours;
const ethereum = { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0", addressFormat: 'ADDRESS_FORMAT_ETHEREUM' };
const request = (held, name, parameters) => execFileSync(binary, ['request', '--data', held.place.data, name, JSON.stringify(parameters)]);

describe(`frames under abuse on ${storeName}`, () => {
  const held = useServer();
  const page = usePage();
  let frames;
  let root;
  let organizationId;
  let walletId;
  let elsewhere; // the same page at another port: of the same site, and another origin
  let origin;

  const call = (name, method, ...args) => callFrame(page, name, method, ...args);
  const allow = (...allowedOrigins) => request(held, 'update_auth_proxy_config', { allowedOrigins });
  const exported = async (targetPublicKey) => (await root.run('exportWallet', { walletId, targetPublicKey })).exportBundle;
  const inject = (name, bundle, id = organizationId) => call(name, 'injectWalletExportBundle', bundle, id);

  before(async () => {
    frames = frameAddresses(held);
    organizationId = held.dev.organizationId;
    root = connectUser(http, held.dev, held.rootKey, held.dev.userId);
    elsewhere = await servePage();
    origin = new URL(elsewhere.url).origin;
    allow(page.origin);
    ({ walletId } = await root.run('createWallet', { walletName: 'first', accounts: [ethereum] }));
  });

  after(() => elsewhere?.stop());

  it('a page of another origin does not get them', async () => {
    // Whether the frame is there, once the browser has done what it does with it.
    const framed = async (address) => {
      const other = await page.open(elsewhere.url);
      await other.run(
        (src) =>
          new Promise((loaded) => {
            const frame = document.createElement('iframe');
            frame.addEventListener('load', loaded);
            frame.src = src;
            document.body.append(frame);
          }).then(() => true),
        address,
      );
      const seen = await page.inFrame('#elsewhere', () => ({ href: location.href, frame: document.getElementById('frame') !== null }));
      await other.close();
      return seen;
    };
    for (const address of Object.values(frames)) {
      allow(page.origin);
      const href = `${address}#elsewhere`;
      assert.deepEqual(await framed(href), { href: 'chrome-error://chromewebdata/', frame: false });
      allow(page.origin, origin);
      assert.deepEqual(await framed(href), { href, frame: true });
    }
    allow(page.origin);
  });

  it('each origin has a key of its own', async () => {
    allow(page.origin, origin);
    const own = await openFrame(page, 'own', frames.auth);
    const other = await page.open(elsewhere.url);
    const theirs = await openFrame(other, 'theirs', frames.auth);
    assert.notEqual(theirs, own);
    const { credentialBundle } = await root.run('createReadWriteSession', { targetPublicKey: own });
    await assert.rejects(callFrame(other, 'theirs', 'injectCredentialBundle', credentialBundle), /was not made for the key of this frame/);
    await callFrame(other, 'theirs', 'clearEmbeddedKey');
    assert.equal(await call('own', 'getEmbeddedPublicKey'), own);
    await other.close();
    await closeFrame(page, 'own');
    assert.equal(await openFrame(page, 'own', frames.auth), own);
    await closeFrame(page, 'own');
    allow(page.origin);
  });

  it('listens to the page around it, and to nobody else', async () => {
    // Another frame of the page is there first, and hands over a port of its own.
    await page.run(
      (src) =>
        new Promise((done) => {
          window.target = document.createElement('iframe');
          target.id = 'target';
          target.sandbox = 'allow-scripts allow-same-origin';
          target.src = src;
          target.addEventListener('load', () => {
            const sibling = document.createElement('iframe');
            sibling.srcdoc = `<script>
              const { port1, port2 } = new MessageChannel();
              window.heard = [];
              port1.onmessage = ({ data }) => heard.push(data);
              parent.target.contentWindow.postMessage({ type: 'TURNKEY_INIT_MESSAGE_CHANNEL' }, '*', [port2]);
              port1.postMessage({ type: 'GET_EMBEDDED_PUBLIC_KEY', requestId: 'sibling' });
            </script>`;
            sibling.addEventListener('load', () => {
              window.sibling = sibling;
              done();
            });
            document.body.append(sibling);
          });
          document.body.append(target);
        }),
      `${frames.auth}#target`,
    );
    const heard = await page.run(async () => {
      const all = { first: [], second: [], window: [] };
      const open = (into) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => into.push(data);
        target.contentWindow.postMessage({ type: 'TURNKEY_INIT_MESSAGE_CHANNEL' }, '*', [port2]);
        return port1;
      };
      const until = async (check) => {
        while (!check()) await new Promise((later) => setTimeout(later, 10));
      };
      window.addEventListener('message', ({ data }) => all.window.push(data));
      const first = open(all.first);
      await until(() => all.first.length === 1);
      // The page itself a second time, and requests past the port.
      const second = open(all.second);
      second.postMessage({ type: 'GET_EMBEDDED_PUBLIC_KEY', requestId: 'second' });
      target.contentWindow.postMessage({ type: 'GET_EMBEDDED_PUBLIC_KEY', requestId: 'window' }, '*');
      target.contentWindow.postMessage({ type: 'RESET_EMBEDDED_KEY', requestId: 'window' }, '*');
      for (const junk of [null, 1, 'text', {}, { type: 1 }, { type: '__proto__', requestId: 'junk' }, { type: 'constructor', requestId: 'junk' }]) {
        first.postMessage(junk);
      }
      first.postMessage({ type: 'GET_EMBEDDED_PUBLIC_KEY', requestId: 'first' });
      await until(() => all.first.some(({ requestId }) => requestId === 'first'));
      return { ...all, sibling: sibling.contentWindow.heard };
    });
    assert.deepEqual([heard.sibling, heard.second, heard.window], [[], [], []]);
    const [ready, ...replies] = heard.first;
    assert.equal(ready.type, 'PUBLIC_KEY_READY');
    assert.deepEqual(replies.map(({ type, requestId }) => [type, requestId]), [
      ['ERROR', 'junk'],
      ['ERROR', 'junk'],
      ['EMBEDDED_PUBLIC_KEY', 'first'],
    ]);
    assert.equal(replies[2].value, ready.value, 'the key was reset past the port');
  });

  it('does nothing for one who opens it as a window', async () => {
    const alone = await page.open(`${frames.export}`);
    const heard = await alone.run(async () => {
      const { port1, port2 } = new MessageChannel();
      const all = [];
      port1.onmessage = ({ data }) => all.push(data);
      window.postMessage({ type: 'TURNKEY_INIT_MESSAGE_CHANNEL' }, '*', [port2]);
      await new Promise((later) => {
        window.addEventListener('message', later, { once: true }); // after those that are there already
        window.postMessage('last', '*');
      });
      return { all, text: document.body.innerText };
    });
    assert.deepEqual(heard.all, []);
    assert.match(heard.text, /inside the page of an application/);
    await alone.close();
  });

  it('asks nothing of any server, and keeps nothing where keys are shown', async () => {
    for (const [name, address] of Object.entries(frames)) {
      await openFrame(page, name, address);
      const found = await page.inFrame(`#${name}`, async () => {
        const fetched = await fetch('/').then(
          () => 'fetched',
          () => 'refused',
        );
        let made;
        try {
          document.body.innerHTML = '<p>';
          made = 'html';
        } catch (error) {
          made = error.name;
        }
        return { fetched, made, kept: localStorage.length + sessionStorage.length, cookies: document.cookie };
      });
      assert.deepEqual(found, { fetched: 'refused', made: 'TypeError', kept: 0, cookies: '' }, name);
      await closeFrame(page, name);
    }
    // What the auth frame keeps cannot be read.
    await openFrame(page, 'kept', frames.auth);
    const extractable = await page.inFrame('#kept', async () => {
      const answer = (asked) => new Promise((resolve, reject) => Object.assign(asked, { onsuccess: () => resolve(asked.result), onerror: reject }));
      const database = await answer(indexedDB.open('latchkey-frame'));
      const all = await answer(database.transaction('keys').objectStore('keys').getAll());
      const exports = all.map(({ pair }) => crypto.subtle.exportKey('jwk', pair.privateKey).then(() => true, () => false));
      return Promise.all(exports);
    });
    assert.ok(extractable.length > 0 && extractable.every((can) => !can), 'a private key can be read');
    await closeFrame(page, 'kept');
  });

  it('refuses bundles of another organization, and of another user', async () => {
    const [child, owner] = await createOrganization({ ...held, flavour: http }, 'other', ['Owner']);
    const { walletId: theirs } = await owner.run('createWallet', { walletName: 'theirs', accounts: [ethereum] });
    const targetPublicKey = await openFrame(page, 'export', frames.export);
    const { exportBundle } = await owner.run('exportWallet', { walletId: theirs, targetPublicKey });
    await assert.rejects(inject('export', exportBundle), /not one that this server signed for the organization/);
    for (const missing of [undefined, null, '', 7]) {
      await assert.rejects(inject('export', exportBundle, missing), /must have a text as its organizationId|not one that this server/);
    }
    assert.equal(await inject('export', exportBundle, child.organizationId), true);
    await closeFrame(page, 'export');

    await openFrame(page, 'import', frames.import);
    const { importBundle } = await owner.run('initImportWallet', { userId: owner.userId });
    const offer = (...ids) => call('import', 'injectImportBundle', importBundle, ...ids);
    await assert.rejects(offer(organizationId, root.userId), /not one that this server signed/);
    await assert.rejects(offer(child.organizationId, root.userId), /for an import of the user/);
    await page.inFrame('#import', () => (document.querySelector('textarea').value = 'abandon'));
    await assert.rejects(call('import', 'extractWalletEncryptedBundle'), /there is no bundle to seal this for/);
    assert.equal(await offer(child.organizationId, owner.userId), true);
    await closeFrame(page, 'import');
  });

  it('refuses bundles that the server did not sign', async () => {
    const forger = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const { x, y } = forger.publicKey.export({ format: 'jwk' });
    const forged = `04${Buffer.from(x, 'base64url').toString('hex')}${Buffer.from(y, 'base64url').toString('hex')}`;
    const sign = (data) => createSign('SHA256').update(Buffer.from(data, 'hex')).sign(forger.privateKey).toString('hex');
    const changed = (hex) => (hex[20] === '0' ? '1' : '0').padStart(21, hex.slice(0, 20)) + hex.slice(21);
    const spoilt = (text) => {
      const bundle = JSON.parse(text);
      const { data, dataSignature } = bundle;
      return [
        { ...bundle, dataSignature: sign(data), enclaveQuorumPublic: forged }, // by another key, which it names
        { ...bundle, dataSignature: sign(data) }, // by another key
        { ...bundle, enclaveQuorumPublic: forged },
        { ...bundle, data: changed(data) },
        { ...bundle, dataSignature: changed(dataSignature) },
        { ...bundle, dataSignature: '' },
        { ...bundle, dataSignature: undefined },
        { ...bundle, data: undefined },
        {},
        null,
      ].map((b) => JSON.stringify(b));
    };
    const targetPublicKey = await openFrame(page, 'export', frames.export);
    const bundle = await exported(targetPublicKey);
    for (const bad of [...spoilt(bundle), 'no JSON']) await assert.rejects(inject('export', bad), /not one that this server signed/);
    assert.equal(await inject('export', bundle), true);
    await closeFrame(page, 'export');

    await openFrame(page, 'import', frames.import);
    const { importBundle } = await root.run('initImportWallet', { userId: root.userId });
    for (const bad of spoilt(importBundle)) {
      await assert.rejects(call('import', 'injectImportBundle', bad, organizationId, root.userId), /not one that this server signed/);
    }
    // What is signed for one purpose does not serve another.
    await assert.rejects(call('import', 'injectImportBundle', bundle, organizationId, root.userId), /for an import of the user/);
    await closeFrame(page, 'import');
  });

  it('two frames at once do not disturb each other, and nothing is opened twice', async () => {
    const [one, two] = [await openFrame(page, 'one', frames.export), await openFrame(page, 'two', frames.export)];
    assert.notEqual(one, two);
    const bundle = await exported(one);
    await assert.rejects(inject('two', bundle), /was not made for the key of this frame/);
    await call('two', 'clearEmbeddedKey');
    assert.equal(await call('one', 'getEmbeddedPublicKey'), one);
    assert.equal(await inject('one', bundle), true);
    await assert.rejects(inject('one', bundle), /has no key any more/);
    await call('one', 'initEmbeddedKey');
    await assert.rejects(inject('one', bundle), /was not made for the key of this frame/);
    await closeFrame(page, 'one');
    await openFrame(page, 'one', frames.export);
    await assert.rejects(inject('one', bundle), /was not made for the key of this frame/);
    for (const name of ['one', 'two']) await closeFrame(page, name);

    // Two of the auth frame, which keeps its key, have the same one, also if they
    // begin at once.
    const both = await Promise.all(['left', 'right'].map((name) => openFrame(page, name, frames.auth)));
    assert.equal(both[0], both[1]);
    for (const name of ['left', 'right']) await closeFrame(page, name);

    // An import that was finished is not done again.
    await openFrame(page, 'import', frames.import);
    const { importBundle } = await root.run('initImportWallet', { userId: root.userId });
    const words = `${'abandon '.repeat(11)}about`;
    const bundles = [];
    for (let i = 0; i < 2; i++) {
      await call('import', 'injectImportBundle', importBundle, organizationId, root.userId);
      await page.inFrame('#import', (text) => (document.querySelector('textarea').value = text), words);
      bundles.push(await call('import', 'extractWalletEncryptedBundle'));
    }
    const finish = (encryptedBundle, walletName) => root.run('importWallet', { userId: root.userId, walletName, encryptedBundle, accounts: [ethereum] });
    await finish(bundles[0], 'once');
    await assert.rejects(finish(bundles[0], 'twice'));
    await assert.rejects(finish(bundles[1], 'twice'));
    await closeFrame(page, 'import');
  });

  it('are there while the auth proxy is disabled, and nowhere without a configuration', async () => {
    request(held, 'disable_auth_proxy', {});
    assert.match(await openFrame(page, 'disabled', frames.export), /^04/);
    await closeFrame(page, 'disabled');
    request(held, 'enable_auth_proxy', {});
    const [, id] = new URL(frames.auth).pathname.split('/');
    const own = new URL(frames.auth).origin;
    for (const [path, status] of [
      ['/', 404],
      ['/auth', 404],
      [`/${id}/none`, 404],
      [`/${id}/auth/`, 404],
      [`/${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}/auth`, 404],
      [`/${organizationId}/auth`, 404],
      ['/assets/none.js', 404],
      ['/console/', 404],
      [`/${id.toUpperCase()}/auth`, 200],
      [`/${id}/export-and-sign`, 200],
    ]) {
      const reply = await fetch(own + path);
      assert.equal(reply.status, status, path);
      const policy = reply.headers.get('content-security-policy');
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
      assert.equal(policy.split('frame-ancestors ')[1], status === 200 ? page.origin : "'none'", path);
    }
    assert.equal((await fetch(frames.auth, { method: 'POST' })).status, 405);
    assert.equal((await fetch(`${own}/public/v1/query/whoami`, { method: 'POST' })).status, 405);
  });
});
