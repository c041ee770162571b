// Starts servers for development and tests, each with a folder of its own.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { program } from './program.js';

const known = ['seed', 'data', 'listen', 'store', 'env', 'onLog'];

// The server says this on standard output when it is ready.
const ready = /^Latchkey is ready at /m;

const read = async (...path) => JSON.parse(await readFile(join(...path), 'utf8'));

/** @type {import('./index.js').startLatchkey} */
export async function startLatchkey(options = {}) {
  const { seed, data, listen = '127.0.0.1:0', store, env, onLog } = options;
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new TypeError(`startLatchkey: unknown option ${name}; there are ${known.join(', ')}`);
  }
  // A folder that is not named is the server's to remove.
  const folder = data === undefined ? join(tmpdir(), `latchkey-dev-${randomBytes(8).toString('hex')}`) : resolve(data);
  const flags = ['--listen', listen, '--data', folder, '--until-eof'];
  if (data === undefined) flags.push('--remove');
  if (seed !== undefined) flags.push('--seed', String(seed));
  if (store !== undefined) flags.push('--store', store);

  // The server ends when its standard input does, so it never outlives this process.
  const child = spawn(program(), ['dev', ...flags], { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const ended = once(child, 'exit');
  ended.catch(() => {}); // a program that cannot be started; told below
  child.stdin.on('error', () => {}); // it has ended

  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said = (said + text).slice(-8192);
    onLog?.(text);
  });
  let greeting = '';
  await new Promise((resolve, reject) => {
    const failed = (code, signal) =>
      reject(new Error(`latchkey did not start (${signal ?? `exit status ${code}`}): ${said.trim() || greeting.trim() || 'it said nothing'}`));
    child.on('error', (error) => reject(new Error(`latchkey did not start: ${error.message}`)));
    child.once('close', failed);
    child.stdout.setEncoding('utf8').on('data', (text) => {
      greeting = (greeting + text).slice(0, 8192);
      if (!ready.test(greeting)) return;
      child.off('close', failed);
      resolve();
    });
  });

  // It does not keep a process alive that has nothing else to do.
  child.unref();
  for (const stream of child.stdio) stream.unref();

  let stopping;
  const stop = () => {
    stopping ??= (async () => {
      child.ref();
      child.stdin.end();
      child.kill('SIGTERM');
      const [code, signal] = await ended;
      if (code !== 0) throw new Error(`latchkey ended with ${signal ?? `exit status ${code}`}: ${said.trim()}`);
    })();
    return stopping;
  };
  try {
    return {
      ...(await read(folder, 'dev.json')),
      ...(await read(folder, 'auth-proxy.json')),
      frames: await read(folder, 'frames.json'),
      data: folder,
      outbox: join(folder, 'outbox'),
      pid: child.pid,
      stop,
      [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
