// The package latchkey-dev, packed and installed in a project of its own, with the
// test runners that it has helpers for. LATCHKEY_DEV_TGZ names a file that was packed
// already, as `make dist` does.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { binary, storeName } from '../lib/server.mjs';
import { patience, until } from '../lib/until.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const workers = 4;

// What a project has that knows nothing of Go: no go in the PATH, and no program but
// that of the package.
const { LATCHKEY_BIN: _, NODE_TEST_CONTEXT: __, ...inherited } = process.env;
const path = [dirname(process.execPath), '/usr/bin', '/bin'].filter((folder) => !existsSync(join(folder, 'go'))).join(delimiter);
const env = { ...inherited, PATH: path, npm_config_update_notifier: 'false' };

const alive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

function pack(folder) {
  const staged = join(folder, 'staged');
  cpSync(here('../../packages/latchkey-dev'), staged, { recursive: true });
  const place = join(staged, `bin/linux-${process.arch === 'x64' ? 'amd64' : process.arch}`);
  mkdirSync(place, { recursive: true });
  copyFileSync(binary, join(place, 'latchkey'));
  chmodSync(join(place, 'latchkey'), 0o755);
  const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', '--json', '--pack-destination', folder, staged], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  return join(folder, filename);
}

// It does not depend on the store, so one run of the suite is enough.
if (storeName === 'SQLite') {
  describe('latchkey-dev', () => {
    let project;
    const run = (command, args, more) => execFileSync(command, args, { cwd: project, env: { ...env, ...more }, encoding: 'utf8', timeout: patience, stdio: ['ignore', 'pipe', 'pipe'] });
    const node = (source, more) => JSON.parse(run(process.execPath, ['--input-type=module', '--eval', source], more));

    before(() => {
      // Below the packages of this folder, which are found from there.
      project = mkdtempSync(here('../.dev-package-'));
      writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'project', private: true, type: 'module' }));
      const file = process.env.LATCHKEY_DEV_TGZ ?? pack(project);
      run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', file]);
      assert.throws(() => run('go', ['version']), { code: 'ENOENT' });
    });
    after(() => rmSync(project, { recursive: true, force: true, maxRetries: 5 }));

    it('runs a server as npx latchkey-dev', async () => {
      // In a process group of its own, as a terminal gives it one.
      const child = spawn('npx', ['--no-install', 'latchkey-dev', '--listen', '127.0.0.1:0', '--data', 'data'], { cwd: project, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
      const exited = once(child, 'exit');
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
      await until(() => `the server; it said ${said}`, () => said.includes('Latchkey is ready at'));
      const who = run('npx', ['--no-install', 'latchkey-dev', 'request', '--data', 'data', 'whoami']);
      assert.match(who, /"username": "Root user"/);
      assert.match(run('npx', ['--no-install', 'latchkey-dev', '--version']), /^latchkey \S+ go/);
      process.kill(-child.pid, 'SIGINT');
      await exited;
      assert.ok(existsSync(join(project, 'data/dev.json')));
    });

    it('starts and stops a server, and leaves nothing behind', async () => {
      const told = node(`
        import { startLatchkey } from 'latchkey-dev';
        import { existsSync } from 'node:fs';
        const latchkey = await startLatchkey();
        const ready = (await fetch(latchkey.baseUrl + '/readyz')).status;
        const before = existsSync(latchkey.outbox);
        await latchkey.stop();
        await latchkey.stop();
        console.log(JSON.stringify({ ...latchkey, ready, before, after: existsSync(latchkey.data) }));`);
      const { ready, before: had, after: has } = told;
      assert.deepEqual({ ready, had, has }, { ready: 200, had: true, has: false });
      for (const name of ['organizationId', 'userId', 'apiPublicKey', 'apiPrivateKey', 'signerPublicKey', 'authProxyConfigId']) assert.ok(told[name], name);
      assert.ok(!alive(told.pid));
    });

    for (const ending of ['', "process.kill(process.pid, 'SIGKILL');"]) {
      it(`ends the server with the process that started it${ending && ', also when that is killed'}`, async () => {
        writeFileSync(
          join(project, 'starts.js'),
          `import { writeFileSync } from 'node:fs';
           import { startLatchkey } from 'latchkey-dev';
           writeFileSync('started.json', JSON.stringify(await startLatchkey()));
           ${ending}`,
        );
        const child = spawn(process.execPath, ['starts.js'], { cwd: project, env, stdio: ['ignore', 'inherit', 'inherit'] });
        const [code, signal] = await once(child, 'exit');
        assert.equal(code ?? signal, ending ? 'SIGKILL' : 0);
        const { pid, data } = JSON.parse(readFileSync(join(project, 'started.json'), 'utf8'));
        await until(() => `the end of process ${pid}`, () => !alive(pid));
        await until(() => `the removal of ${data}`, () => !existsSync(data));
      });
    }

    it('gives the same start for the same seed', () => {
      const start = () => {
        const { baseUrl, authProxyUrl, frames, data, outbox, pid, ...same } = node(`
          import { startLatchkey } from 'latchkey-dev';
          const latchkey = await startLatchkey({ seed: 'a seed' });
          await latchkey.stop();
          console.log(JSON.stringify(latchkey));`);
        return same;
      };
      assert.deepEqual(start(), start());
    });

    it('says why a server did not start', () => {
      const { said } = node(`
        import { startLatchkey } from 'latchkey-dev';
        const said = await Promise.allSettled([startLatchkey({ listen: 'nowhere' }), startLatchkey({ sed: 'a' }), startLatchkey({ listen: '0.0.0.0:0', seed: 'a' })]);
        console.log(JSON.stringify({ said: said.map(({ reason }) => reason.message) }));`);
      assert.match(said[0], /^latchkey did not start \(exit status 1\): .*nowhere/);
      assert.equal(said[1], 'startLatchkey: unknown option sed; there are seed, data, listen, store, env, onLog');
      assert.match(said[2], /can be reached from other machines/);
      const [missing] = node(
        `import { startLatchkey } from 'latchkey-dev';
         console.log(JSON.stringify([await startLatchkey().catch(({ message }) => message)]));`,
        { LATCHKEY_BIN: join(project, 'nothing') },
      );
      assert.match(missing, /^latchkey did not start: .*ENOENT/);
    });

    // Each worker has a server of its own, signs with an unmodified client, and waits
    // for the others; afterwards all servers and folders are gone.
    async function helper(name, files, command) {
      const folder = join(project, name);
      const meeting = join(project, `${name}-meeting`);
      mkdirSync(meeting);
      mkdirSync(folder);
      copyFileSync(here('../dev-package/sign.js'), join(folder, 'sign.cjs'));
      for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
      try {
        execFileSync(process.execPath, command(folder), { cwd: folder, env: { ...env, MEETING: meeting }, encoding: 'utf8', timeout: patience, stdio: ['ignore', 'pipe', 'pipe'] });
      } catch (error) {
        throw new Error(`${name} failed:\n${error.stdout}\n${error.stderr}`);
      }
      const servers = readdirSync(meeting).map((file) => JSON.parse(readFileSync(join(meeting, file), 'utf8')));
      assert.equal(new Set(servers.map(({ baseUrl }) => baseUrl)).size, workers);
      for (const { pid, data } of servers) {
        await until(() => `the end of process ${pid}`, () => !alive(pid));
        await until(() => `the removal of ${data}`, () => !existsSync(data));
      }
    }
    const each = (text, ending) => Object.fromEntries(Array.from({ length: workers }, (_unused, n) => [`${n}${ending}`, text.replaceAll('NAME', String(n))]));
    const bin = (name) => here(`../node_modules/${name}`);

    for (const pool of ['forks', 'threads']) {
      it(`gives each worker of Vitest a server, with ${pool}`, () =>
        helper(
          `vitest-${pool}`,
          {
            ...each(
              `import { latchkey } from 'latchkey-dev/vitest';
               import { expect, test } from 'vitest';
               import { meet, signWith } from './sign.cjs';
               test('signs', { timeout: ${patience} }, async () => {
                 await meet('NAME', latchkey, ${workers});
                 const { wallet, signer } = await signWith(latchkey);
                 expect(signer).toBe(wallet);
               });`,
              '.test.js',
            ),
            'vitest.config.js': `export default { test: { pool: '${pool}', maxWorkers: ${workers}, hookTimeout: ${patience} } };`,
          },
          (folder) => [bin('vitest/vitest.mjs'), 'run', '--root', folder],
        ));
    }

    it('gives each worker of Jest a server', () =>
      helper(
        'jest',
        {
          ...each(
            `const { meet, signWith } = require('./sign.cjs');
             test('signs', async () => {
               await meet('NAME', latchkey, ${workers});
               const { wallet, signer } = await signWith(latchkey);
               expect(signer).toBe(wallet);
             }, ${patience});`,
            '.test.cjs',
          ),
          'jest.config.cjs': `module.exports = { testEnvironment: 'latchkey-dev/jest', testMatch: ['**/*.test.cjs'], maxWorkers: ${workers} };`,
        },
        (folder) => [bin('jest/bin/jest.js'), '--rootDir', folder, '--config', join(folder, 'jest.config.cjs')],
      ));
  });
}
