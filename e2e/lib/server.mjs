// Starts and stops the real binary, each time on a store of its own.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';

import { patience, until } from './until.mjs';

export const binary = process.env.LATCHKEY_BIN ?? fileURLToPath(new URL('../../bin/latchkey', import.meta.url));

// STORE is `sqlite` (or unset), or the URL of a PostgreSQL server in which we
// may create databases; PSQL is the program to do that with.
const kind = process.env.STORE || 'sqlite';
export const storeName = kind === 'sqlite' ? 'SQLite' : 'PostgreSQL';

// A test run that is itself ended must not leave servers or folders behind.
const running = new Set();
const folders = new Set();
const forget = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
process.on('exit', () => {
  running.forEach((child) => child.kill('SIGKILL'));
  folders.forEach(forget);
});
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => process.exit(1));
}

function psql(statement) {
  execFileSync(process.env.PSQL || 'psql', ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-c', statement, kind], { stdio: 'pipe' });
}

// newPlace makes an empty data folder and an empty store; the servers that are
// started on it one after the other share both.
export function newPlace() {
  const data = mkdtempSync(join(tmpdir(), 'latchkey-e2e-'));
  folders.add(data);
  if (kind === 'sqlite') {
    return { data, args: [], remove: () => forget(data) };
  }
  const database = `latchkey_e2e_${randomBytes(6).toString('hex')}`;
  psql(`CREATE DATABASE ${database}`);
  const url = new URL(kind);
  url.pathname = `/${database}`;
  return {
    data,
    args: ['--store', url.href],
    remove() {
      forget(data);
      psql(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
    },
  };
}

// What tells one writing of a file from the next, whether it is replaced or
// written in place.
function stamp(file) {
  try {
    const { ino, mtimeNs } = statSync(file, { bigint: true });
    return `${ino} ${mtimeNs}`;
  } catch {
    return '';
  }
}

// launch runs the binary. ready(output) says where it can be reached, once it is
// known; readyz is what it then answers there.
async function launch(args, ready, readyz = 200) {
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  }
  let problem;
  child.on('error', (error) => (problem = error.message));
  const exited = once(child, 'exit').catch(() => []);
  exited.then(([code, signal]) => {
    problem ??= `the server ended (${signal ?? code})`;
    running.delete(child);
  });
  const alive = () => {
    if (problem) throw new Error(`${problem}\n${output}`);
  };

  const server = {
    output: () => output,
    // The way an operator or a supervisor ends it: everything that was
    // acknowledged is kept, and the exit code says that all went well.
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), patience);
      const [code, signal] = await exited;
      clearTimeout(timer);
      assert.deepEqual({ code, signal }, { code: 0, signal: null }, `SIGTERM must end the server with 0\n${output}`);
    },
    // The way a power failure does.
    async crash() {
      child.kill('SIGKILL');
      await exited;
    },
    // For cleaning up, whatever the state.
    async end() {
      if (running.has(child)) await this.crash();
    },
  };
  try {
    const baseUrl = await until(
      () => 'the address',
      () => {
        alive();
        return ready(output);
      },
    );
    let answer = 'nothing';
    await until(
      () => `readyz at ${baseUrl} (last: ${answer})`,
      async () => {
        alive();
        try {
          const reply = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(patience) });
          answer = `${reply.status} ${await reply.text()}`;
          return reply.status === readyz;
        } catch (error) {
          answer = `${error} ${error.cause ?? ''}`;
          return false;
        }
      },
    );
    return { ...server, baseUrl };
  } catch (error) {
    await server.crash();
    error.message += `\n--- output of the server\n${output}`;
    throw error;
  }
}

// startServer runs `latchkey dev`, with further arguments, and returns once its
// readyz answers as it should. Its `dev` is the content of dev.json.
export async function startServer(place, more = [], readyz = 200) {
  const file = join(place.data, 'dev.json');
  // A restart finds the file of the start before, with an address that is no
  // longer true. It is not ours to delete: only wait for the new one.
  const before = stamp(file);
  let dev;
  const server = await launch(['dev', '--listen', '127.0.0.1:0', '--data', place.data, ...place.args, ...more], () => {
    if (stamp(file) === before) return undefined;
    try {
      dev = JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      return undefined; // being written
    }
    // Scripts wait for the file and use what is in it: there is no half of it.
    for (const [member, value] of Object.entries(dev)) {
      assert.notEqual(value, '', `dev.json was there before its ${member} was known`);
    }
    return dev.baseUrl;
  }, readyz);
  return { ...server, dev, file };
}

function writeConfig(place, config, port = 0) {
  const file = join(place.data, 'config.yaml');
  const store = place.args[1] ?? 'sqlite:latchkey.db';
  writeFileSync(file, `listen: 127.0.0.1:${port}\nstore: ${JSON.stringify(store)}\n${config}`, { mode: 0o600 });
  return file;
}

const init = (file, key) =>
  JSON.parse(execFileSync(binary, ['init', '--config', file, '--organization', 'Served', '--user', 'Root', '--public-key', key.apiPublicKey]));

// makeSeal puts a seal into a folder that a passphrase opens, or two of three people:
// files are those with their shares.
export function makeSeal(folder, group) {
  const passphrase = join(folder, 'passphrase');
  writeFileSync(passphrase, randomBytes(16).toString('hex'), { mode: 0o600 });
  execFileSync(binary, ['seal', 'init', '--seal', join(folder, 'seal.json'), '--passphrase', 'server', '--secret', `server=file:${passphrase}`, '--people', `${group}=2/3`, '--shares', folder]);
  return { passphrase, files: [1, 2, 3].map((n) => join(folder, `${group}-${n}.txt`)) };
}

const underSeal = (more) => `masterKey: seal:seal.json\ntimeouts:\n  lameDuck: 0s\nseal:\n  ${more}\n`;

// initSealed makes a seal in a place, and an organization whose root user has the key.
export function initSealed(place, key) {
  const { passphrase, files } = makeSeal(place.data, 'board');
  return { files, ...init(writeConfig(place, underSeal(`secrets: {server: file:${passphrase}}`)), key) };
}

// startSealed runs `latchkey serve` in such a place, without the passphrase, and returns
// when it is sealed. With http, shares are taken over HTTP.
export async function startSealed(place, { http, port }) {
  const file = writeConfig(place, underSeal(`http: ${http}`), port);
  return launch(['serve', '--config', file], (output) => output.match(/the server is sealed.*?"address":"([^"]+)"/)?.[1].replace(/^/, 'http://'), 503);
}

// startServe runs `latchkey serve` with a config, after creating an organization
// whose root user has the key. Its `dev` is what dev.json would hold of that.
export async function startServe(place, config, key) {
  const file = writeConfig(place, config);
  const { organizationId, userId } = init(file, key);
  const server = await launch(['serve', '--config', file], (output) => output.match(/"msg":"ready","address":"([^"]+)"/)?.[1]);
  const known = await fetch(`${server.baseUrl}/.well-known/latchkey.json`).then((reply) => reply.json());
  return { ...server, dev: { ...known, baseUrl: server.baseUrl, organizationId, userId } };
}

// useServer gives the tests of the describe around it a server of their own. It
// is there when they run, not before: dev, server and rootKey are filled in. more()
// is what else it is started with.
export function useServer(more = () => []) {
  const place = newPlace();
  const held = { place };
  before(async () => {
    held.server = await startServer(place, more());
    held.dev = held.server.dev;
    held.rootKey = { apiPublicKey: held.dev.apiPublicKey, apiPrivateKey: held.dev.apiPrivateKey };
  });
  after(async () => {
    try {
      await held.server?.stop();
    } finally {
      await held.server?.end();
      place.remove();
    }
  });
  return held;
}
