// A page in headless Chromium, with passkeys from a virtual authenticator. The
// browser is driven over a pipe (Chrome DevTools Protocol): it opens no port,
// and nothing but this machine can be reached from it.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { note } from './record.mjs';
import { patience, until } from './until.mjs';

// The browser: CHROMIUM, or the first that is installed.
function program() {
  const names = process.env.CHROMIUM ? [process.env.CHROMIUM] : ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];
  for (const name of names) {
    if (spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0) return name;
  }
  throw new Error(`no browser: ${names.join(', ')} cannot be run. Install Debian's package chromium, or set CHROMIUM to one.`);
}

const flags = [
  '--headless=new',
  '--remote-debugging-pipe',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-sync',
  '--disable-quic',
  '--no-first-run',
  '--no-default-browser-check',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
];

async function startBrowser() {
  const profile = mkdtempSync(join(tmpdir(), 'latchkey-chromium-'));
  // Chromium refuses to put root into a sandbox.
  const more = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const child = spawn(program(), [...flags, ...more, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    detached: true, // leads a process group: Chromium is many processes
  });
  // A test run that is itself ended leaves nothing behind.
  const abandon = () => {
    process.kill(-child.pid, 'SIGKILL');
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once('exit', abandon);
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (complaints = (complaints + text).slice(-4000)));
  const [, , , commands, replies] = child.stdio;

  const waiting = new Map();
  const listeners = new Map();
  const exited = once(child, 'exit').then(() => {
    const error = new Error(`Chromium ended\n${complaints}`);
    waiting.forEach(({ reject, timer }) => {
      clearTimeout(timer);
      reject(error);
    });
  });
  commands.on('error', () => {}); // it ended; that is told above

  let rest = '';
  replies.setEncoding('utf8').on('data', (text) => {
    const parts = (rest + text).split('\0');
    rest = parts.pop();
    for (const { id, result, error, method, params } of parts.map((part) => JSON.parse(part))) {
      if (id === undefined) {
        listeners.get(method)?.(params);
        continue;
      }
      const { resolve, reject, what, timer } = waiting.get(id);
      waiting.delete(id);
      clearTimeout(timer);
      if (error) reject(new Error(`${what}: ${error.message}`));
      else resolve(result);
    }
  });

  let last = 0;
  return {
    call: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${method}: no answer\n${complaints}`)), patience);
        waiting.set(++last, { resolve, reject, what: method, timer });
        commands.write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
      }),
    on: (method, listener) => listeners.set(method, listener),
    async stop() {
      process.off('exit', abandon);
      process.kill(-child.pid, 'SIGKILL');
      await exited;
      await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

// servePage serves the page at localhost, which browsers hold to be secure. fragment
// is what its address ends with, and plugins change how it is built.
export async function servePage({ script = 'page.js', fragment = '', plugins = [] } = {}) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../page/${script}`, import.meta.url))],
    outdir: 'out',
    plugins,
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    logLevel: 'error',
    loader: { '.svg': 'dataurl', '.css': 'empty' },
    define: { 'process.env.NODE_ENV': '"production"', 'process.env': '{}', global: 'globalThis' },
    // Parts of a client for another platform, which a page never loads.
    external: ['react-native', 'react-native-keychain', '@turnkey/react-native-passkey-stamper', '@react-native-async-storage/*'],
  });
  const server = createServer((request, response) => {
    if (request.url === '/page.js') {
      response.setHeader('Content-Type', 'text/javascript').end(outputFiles[0].contents);
    } else {
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Page</title><body><script src="/page.js"></script>');
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${server.address().port}/${fragment}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

// usePage gives the tests of the describe around it a page, when they run; that of
// ../page, or what serve makes an address for.
//   run(f, …arguments)   calls f in the page; both ways go by JSON
//   reload()             loads the page anew
//   inFrame(part, f, …)  calls f in the frame whose address has this part
//   open(url)            another page of the browser, with run and close
//   targets()            all pages and frames of the browser
//   redirect(from, to)   sends the page elsewhere when it goes to an address that
//                        begins with from; to(url) says where
//   authenticator(more)  plugs in a virtual authenticator, and pulls out the one before
//   by                   package to which requests are attributed, besides the client
export function usePage(serve = servePage) {
  const page = {};
  let browser;
  let server;
  before(async () => {
    [browser, server] = await Promise.all([startBrowser(), serve()]);
    const { targetId } = await browser.call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await browser.call('Target.attachToTarget', { targetId, flatten: true });
    const call = (method, params) => browser.call(method, params, sessionId);
    const runIn = async (session, f, args) => {
      const { result, exceptionDetails } = await browser.call(
        'Runtime.evaluate',
        { expression: `(${f})(...${JSON.stringify(args)})`, awaitPromise: true, returnByValue: true },
        session,
      );
      if (exceptionDetails) {
        throw new Error(`in the page: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
      }
      return result.value;
    };
    // A frame of another site is a target of its own.
    page.targets = async () => (await browser.call('Target.getTargets', { filter: [{}] })).targetInfos;
    page.inFrame = async (part, f, ...args) => {
      const frame = await until(
        () => `a frame with ${part} in its address`,
        async () => (await page.targets()).find(({ type, url }) => type === 'iframe' && url.includes(part)),
      );
      const attached = await browser.call('Target.attachToTarget', { targetId: frame.targetId, flatten: true });
      try {
        return await runIn(attached.sessionId, f, args);
      } finally {
        await browser.call('Target.detachFromTarget', attached).catch(() => {}); // it may be gone
      }
    };
    page.open = async (url) => {
      const other = await browser.call('Target.createTarget', { url });
      const attached = await browser.call('Target.attachToTarget', { targetId: other.targetId, flatten: true });
      const run = (f, ...args) => runIn(attached.sessionId, f, args);
      await until(
        () => url,
        () => run((wanted) => location.href === wanted && document.readyState === 'complete', url).catch(() => false),
      );
      return { run, close: () => browser.call('Target.closeTarget', other) };
    };

    // What the page asked of the server.
    const requests = new Map();
    browser.on('Network.requestWillBeSent', ({ requestId, request }) => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]));
      const by = headers['x-stamp-webauthn'] ? '@turnkey/webauthn-stamper' : page.by;
      requests.set(requestId, { path: new URL(request.url).pathname, client: headers['x-client-version'], by });
    });
    browser.on('Network.responseReceived', ({ requestId, response }) => {
      const { path, client, by } = requests.get(requestId) ?? {};
      if (!client) return;
      note(path, client, response.status);
      note(path, by, response.status);
    });
    await call('Network.enable');
    await call('WebAuthn.enable');

    page.redirect = async (from, to) => {
      browser.on('Fetch.requestPaused', ({ requestId, request }) =>
        call('Fetch.fulfillRequest', {
          requestId,
          responseCode: 302,
          responseHeaders: [{ name: 'Location', value: to(new URL(request.url)) }],
        }),
      );
      await call('Fetch.enable', { patterns: [{ urlPattern: `${from}*` }] });
    };

    page.origin = new URL(server.url).origin;
    page.run = (f, ...args) => runIn(sessionId, f, args);
    let plugged;
    page.authenticator = async (more) => {
      if (plugged) await call('WebAuthn.removeVirtualAuthenticator', { authenticatorId: plugged });
      const options = {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
        ...more,
      };
      ({ authenticatorId: plugged } = await call('WebAuthn.addVirtualAuthenticator', { options }));
    };
    // The page before may still be there for a while, or go while it is asked.
    const arrive = async (how, what) => {
      await page.run(() => void (window.left = true));
      await call(how, what);
      await until(
        () => server.url,
        () => page.run(() => !window.left && location.href !== 'about:blank' && document.readyState === 'complete').catch(() => false),
      );
    };
    page.reload = () => arrive('Page.reload', {});
    await arrive('Page.navigate', { url: server.url });
    await page.authenticator();
  });
  after(async () => {
    server?.stop();
    await browser?.stop();
  });
  return page;
}
