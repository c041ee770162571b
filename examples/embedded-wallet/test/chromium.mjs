// A headless Chromium with a virtual authenticator in place of a fingerprint
// reader. It is driven over a pipe (Chrome DevTools Protocol), opens no port,
// and can reach nothing but this machine.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const patience = 300_000; // longer than any machine is slow

// The browser: CHROMIUM, or the first that is installed.
function program() {
  const names = process.env.CHROMIUM ? [process.env.CHROMIUM] : ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];
  for (const name of names) {
    if (spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0) return name;
  }
  throw new Error(`no browser: ${names.join(', ')} cannot be run. Install one, or set CHROMIUM to one.`);
}

function launch() {
  const profile = mkdtempSync(join(tmpdir(), 'latchkey-chromium-'));
  const flags = [
    '--headless=new',
    '--remote-debugging-pipe',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
    `--user-data-dir=${profile}`,
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), // Chromium refuses to put root into one
  ];
  const child = spawn(program(), [...flags, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    detached: true, // leads a process group: Chromium is many processes
  });
  const end = () => {
    process.off('exit', end);
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // it has ended already
    }
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  };
  process.once('exit', end);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  return { child, end };
}

// connect gives call(method, params, sessionId), which resolves to the reply.
function connect(child) {
  const [, , , commands, replies] = child.stdio;
  const waiting = new Map();
  commands.on('error', () => {}); // it ended, which is told here:
  child.once('exit', () => waiting.forEach(({ reject }) => reject(new Error('the browser ended'))));
  let rest = '';
  replies.setEncoding('utf8').on('data', (text) => {
    const parts = (rest + text).split('\0');
    rest = parts.pop();
    for (const { id, result, error } of parts.map((part) => JSON.parse(part))) {
      const call = waiting.get(id); // none for an event
      waiting.delete(id);
      if (error) call?.reject(new Error(error.message));
      else call?.resolve(result);
    }
  });
  let last = 0;
  return (method, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      commands.write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
    });
}

// startBrowser opens a page.
//   open(url)           goes there, or loads it again
//   run(f, …arguments)  calls f in the page; both ways go by JSON
//   until(f, …)         calls it until it gives something true
//   untilInFrame(part, f, …)  the same in the frame whose address has this part
//   passkeys(list)      plugs in a new authenticator, with these passkeys in it,
//                       and resolves to a function that lists what is in it
export async function startBrowser() {
  const { child, end } = launch();
  const send = connect(child);
  const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  const call = (method, params) => send(method, params, sessionId);
  await call('Page.enable');
  await call('WebAuthn.enable');

  const runIn = async (session, f, args) => {
    const expression = `(${f})(...${JSON.stringify(args)})`;
    const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true }, session);
    if (exceptionDetails) throw new Error(`in the page: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  };
  const run = (f, ...args) => runIn(sessionId, f, args);
  // A frame of another site is a target of its own, which may come and go.
  const untilInFrame = async (part, f, ...args) => {
    for (const deadline = Date.now() + patience; Date.now() < deadline; await sleep(20)) {
      const { targetInfos } = await send('Target.getTargets', { filter: [{}] });
      const frame = targetInfos.find(({ type, url }) => type === 'iframe' && url.includes(part));
      if (!frame) continue;
      const attached = await send('Target.attachToTarget', { targetId: frame.targetId, flatten: true });
      const value = await runIn(attached.sessionId, f, args).finally(() => send('Target.detachFromTarget', attached).catch(() => {}));
      if (value) return value;
    }
    throw new Error(`waited in vain for ${f} in the frame ${part}`);
  };
  const until = async (f, ...args) => {
    for (const deadline = Date.now() + patience; ; await sleep(20)) {
      const value = await run(f, ...args);
      if (value) return value;
      if (Date.now() < deadline) continue;
      throw new Error(`waited in vain for ${f}; the page says: ${await run(() => document.body.innerText)}`);
    }
  };
  // The page before may still be there for a while, or go while it is asked.
  const open = async (url) => {
    await run(() => void (window.left = true));
    await call('Page.navigate', { url });
    const opened = (url) => !window.left && location.href === url && document.readyState === 'complete';
    for (const deadline = Date.now() + patience; !(await run(opened, url).catch(() => false)); await sleep(20)) {
      if (Date.now() > deadline) throw new Error(`${url} did not open`);
    }
  };
  let plugged;
  return {
    run,
    until,
    untilInFrame,
    open,
    async passkeys(credentials = []) {
      if (plugged) await call('WebAuthn.removeVirtualAuthenticator', { authenticatorId: plugged });
      const { authenticatorId } = await call('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      });
      plugged = authenticatorId;
      for (const credential of credentials) await call('WebAuthn.addCredential', { authenticatorId, credential });
      return async () => (await call('WebAuthn.getCredentials', { authenticatorId })).credentials;
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        process.kill(-child.pid, 'SIGKILL');
        await ended;
      }
      end();
    },
  };
}
