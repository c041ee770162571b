// What with-latchkey promises: a server of its own, ready soon, and gone
// afterwards, however the command or the script ends.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Turnkey } from '@turnkey/sdk-server';

const script = fileURLToPath(new URL('../with-latchkey', import.meta.url));
const patience = 300_000; // longer than any machine is slow

// Where the script makes its folders, so that what it leaves is seen.
let place;
let runs = [];
function clear() {
  // Only after a failure, or an interruption: what a test started, it has ended.
  for (const { child } of runs) {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
  }
  runs = [];
  rmSync(place, { recursive: true, force: true });
}
beforeEach(() => (place = mkdtempSync(join(tmpdir(), 'stand-in-'))));
afterEach(clear);
process.on('exit', clear);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

// start runs the script as the leader of a process group, as a terminal does.
function start(args, env = {}) {
  const child = spawn(script, args, {
    env: { ...process.env, TMPDIR: place, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const run = { child, out: '', err: '' };
  runs.push(run);
  child.stdout.setEncoding('utf8').on('data', (text) => (run.out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (run.err += text));
  run.ended = once(child, 'close').then(([code, signal]) => ({ ...run, code, signal }));
  return run;
}

async function finish(args, { env, input = '' } = {}) {
  const run = start(args, env);
  run.child.stdin.on('error', () => {}).end(input); // not every command reads it
  return run.ended;
}

// A command that says what it was given, and one that then stays.
const tell = 'console.log(JSON.stringify(process.env))';
const stay = `${tell}; setInterval(() => {}, 1000)`;

// said waits for the environment that a staying command prints.
async function said(run) {
  for (const deadline = Date.now() + patience; ; await sleep(10)) {
    if (run.out.includes('\n')) return JSON.parse(run.out.split('\n')[0]);
    if (Date.now() > deadline || run.child.exitCode !== null) throw new Error(`the command did not start\n${run.err}`);
  }
}

// answers says whether this very server does: its port may be another's by now.
const answers = ({ LATCHKEY_URL: url, LATCHKEY_SIGNER_PUBLIC_KEY: key }) =>
  fetch(`${url}/.well-known/latchkey.json`, { signal: AbortSignal.timeout(patience) })
    .then((reply) => reply.json())
    .then(({ signerPublicKey }) => signerPublicKey === key)
    .catch(() => false);

// gone asserts that neither the server nor its folder is there any more.
async function gone(env) {
  assert.ok(env.LATCHKEY_URL && env.LATCHKEY_SIGNER_PUBLIC_KEY);
  assert.equal(await answers(env), false, 'the server still answers');
  assert.deepEqual(readdirSync(place), []);
}

const client = (env) =>
  new Turnkey({
    apiBaseUrl: env.LATCHKEY_URL,
    defaultOrganizationId: env.LATCHKEY_ORGANIZATION_ID,
    apiPublicKey: env.LATCHKEY_API_PUBLIC_KEY,
    apiPrivateKey: env.LATCHKEY_API_PRIVATE_KEY,
  }).apiClient();

describe('with-latchkey', () => {
  it('has a server ready, and tells the command all about it', async (t) => {
    const before = Date.now();
    const run = start(['node', '-e', stay]);
    const env = await said(run);
    // Printed, not held to two seconds: the machine may be busy.
    t.diagnostic(`ready after ${((Date.now() - before) / 1000).toFixed(2)} s, with the start of node`);
    assert.equal(await answers(env), true);

    const { userId, organizationId } = await client(env).getWhoami();
    assert.equal(userId, env.LATCHKEY_USER_ID);
    assert.equal(organizationId, env.LATCHKEY_ORGANIZATION_ID);
    const known = await fetch(`${env.LATCHKEY_URL}/.well-known/latchkey.json`).then((reply) => reply.json());
    assert.equal(known.signerPublicKey, env.LATCHKEY_SIGNER_PUBLIC_KEY);
    assert.equal(known.sessionPublicKey, env.LATCHKEY_SESSION_PUBLIC_KEY);
    assert.ok(existsSync(join(env.LATCHKEY_DATA, 'outbox')));
    assert.match(env.LATCHKEY_URL, /^http:\/\/127\.0\.0\.1:\d+$/);

    run.child.kill('SIGTERM');
    await run.ended;
  });

  it('is gone when the command is done', async () => {
    const { code, out, err } = await finish(['node', '-e', tell]);
    assert.deepEqual({ code, err }, { code: 0, err: '' });
    await gone(JSON.parse(out));
  });

  it('passes on status, arguments, input and output', async () => {
    for (const [args, expected] of [
      [['true'], { code: 0, out: '' }],
      [['bash', '-c', 'exit 7'], { code: 7, out: '' }],
      [['bash', '-c', 'kill -TERM $$'], { code: 143, out: '' }],
      [['cat'], { code: 0, out: 'some input' }],
      [['printf', '%s|', 'two words', '', '--keep', '*'], { code: 0, out: 'two words||--keep|*|' }],
      [['--', 'echo', 'x'], { code: 0, out: 'x\n' }],
    ]) {
      const { code, out } = await finish(args, { input: 'some input' });
      assert.deepEqual({ code, out }, expected, args.join(' '));
    }
    assert.equal((await finish(['there-is-no-such-command'])).code, 127);
    assert.deepEqual(readdirSync(place), []);
  });

  it('says what is wrong, with a status of its own', async () => {
    for (const [args, env, message] of [
      [[], {}, /a command is missing/],
      [['--wrong', 'true'], {}, /unknown option --wrong/],
      [['true'], { LATCHKEY_BIN: '/nowhere/latchkey' }, /\/nowhere\/latchkey is not there/],
      [['true'], { LATCHKEY_BIN: 'false' }, /the server ended at once/],
    ]) {
      const { code, err } = await finish(args, { env });
      assert.equal(code, 125, err);
      assert.match(err, message);
    }
    assert.deepEqual(readdirSync(place), []);
  });

  it('runs side by side', async () => {
    const pair = [start(['node', '-e', stay]), start(['node', '-e', stay])];
    const [one, other] = await Promise.all(pair.map(said));
    assert.notEqual(one.LATCHKEY_URL, other.LATCHKEY_URL);
    await client(one).createWallet({ walletName: 'of one', accounts: [] });
    assert.deepEqual((await client(other).getWallets()).wallets, []);
    // Neither knows the key of the other.
    await assert.rejects(client({ ...one, LATCHKEY_URL: other.LATCHKEY_URL }).getWhoami(), { code: 16 });
    // The end of one is not the end of the other.
    pair[0].child.kill('SIGTERM');
    await pair[0].ended;
    assert.equal(await answers(one), false);
    assert.equal(await answers(other), true);
    pair[1].child.kill('SIGTERM');
    await pair[1].ended;
    await gone(other);
  });

  const print = 'printf \'{"LATCHKEY_URL":"%s","LATCHKEY_SIGNER_PUBLIC_KEY":"%s"}\\n\' "$LATCHKEY_URL" "$LATCHKEY_SIGNER_PUBLIC_KEY"';
  for (const [name, command] of [
    ['', ['node', '-e', stay]],
    // It ends at the same moment as the script learns of the signal.
    [' of a command that ends at once', ['bash', '-c', `${print}; exec sleep 3600`]],
  ]) {
    it(`leaves nothing behind after Ctrl-C${name}`, async () => {
      const run = start(command);
      const env = await said(run);
      process.kill(-run.child.pid, 'SIGINT'); // a terminal signals the whole group
      const { code } = await run.ended;
      assert.equal(code, 130);
      await gone(env);
      assert.throws(() => process.kill(-run.child.pid, 0), { code: 'ESRCH' });
    });
  }

  it('keeps the server until a command that was interrupted has cleaned up', async () => {
    const tidy = `process.on('SIGINT', async () => {
      console.log(await fetch(process.env.LATCHKEY_URL + '/healthz').then((reply) => reply.status));
      process.exit(5);
    }); ${stay}`;
    const run = start(['node', '-e', tidy]);
    const env = await said(run);
    process.kill(-run.child.pid, 'SIGINT');
    const { code, out } = await run.ended;
    assert.equal(code, 5);
    assert.equal(out.trim().split('\n').pop(), '200');
    await gone(env);
  });

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    it(`passes ${signal} on to the command, and then cleans up`, async () => {
      const run = start(['node', '-e', `process.on('${signal}', () => { console.log('told'); process.exit(9) }); ${stay}`]);
      const env = await said(run);
      run.child.kill(signal); // to the script alone
      const { code, out } = await run.ended;
      assert.equal(code, 9);
      assert.equal(out.trim().split('\n').pop(), 'told');
      await gone(env);
    });
  }

  it('takes the server with it even when it is killed', async () => {
    const run = start(['node', '-e', stay]);
    const env = await said(run);
    run.child.kill('SIGKILL');
    await once(run.child, 'exit');
    for (const deadline = Date.now() + patience; readdirSync(place).length > 0; await sleep(20)) {
      assert.ok(Date.now() < deadline, 'the folder is still there');
    }
    await gone(env);
    process.kill(-run.child.pid, 'SIGKILL'); // the command, which was not told
  });

  it('--keep leaves the folder, for a look at the log', async () => {
    const { out, err } = await finish(['--keep', 'node', '-e', tell]);
    const env = JSON.parse(out);
    assert.ok(err.includes(`kept ${env.LATCHKEY_DATA}`));
    assert.match(readFileSync(join(env.LATCHKEY_DATA, 'latchkey.log'), 'utf8'), /^Latchkey is ready at/);
    assert.equal(await answers(env), false);
  });
});
