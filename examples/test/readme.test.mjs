// Runs the READMEs as a new user would: from a copy of this folder, each block
// marked sh in its order, and compares what is printed with what the page shows.
// FRESH=1 also installs the packages in the copy; otherwise it has those that
// `npm ci` put here.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { blocks, interrupted, matches, untilInterrupted } from './readme.mjs';

const examples = fileURLToPath(new URL('..', import.meta.url));
const { workspaces } = JSON.parse(readFileSync(join(examples, 'package.json'), 'utf8'));
const patience = 300_000;
const install = 'npm ci\n'; // what README.md says

const environment = { ...process.env, npm_config_loglevel: 'error', npm_config_update_notifier: 'false', PORT: '0' };
// A new user has no server yet, and nothing of the test runner around this.
for (const name of Object.keys(environment)) {
  if (/^(LATCHKEY_|NODE_)/.test(name)) delete environment[name];
}

// What is under way ends with this test, also when it is interrupted.
const running = new Set();
process.on('exit', () => running.forEach((child) => process.kill(-child.pid, 'SIGTERM')));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

// run gives the output and the status of a block. One that goes on until Ctrl-C
// is interrupted when it has printed what the page shows before that.
async function run(folder, { command, shows }) {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', `exec 2>&1\n${command}`], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // leads a process group, as in a terminal
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  let pressed = false;
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    if (pressed || !interrupted(shows) || !matches(output, untilInterrupted(shows))) return;
    pressed = true;
    process.kill(-child.pid, 'SIGINT');
  });
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), patience);
  const [code, signal] = await once(child, 'close');
  clearTimeout(timer);
  return { output, status: signal ?? code, pressed };
}

describe('READMEs', { concurrency: 2 }, () => {
  let root;
  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'latchkey-examples-'));
    const copy = join(root, 'examples');
    cpSync(examples, copy, {
      recursive: true,
      filter: (path) => basename(path) !== 'node_modules',
      verbatimSymlinks: true,
    });
    mkdirSync(join(root, 'bin'));
    symlinkSync(resolve(process.env.LATCHKEY_BIN ?? join(examples, '../bin/latchkey')), join(root, 'bin/latchkey'));
    symlinkSync(resolve(examples, '../packages'), join(root, 'packages')); // what an example builds with
    if (process.env.FRESH) {
      const { output, status } = await run(copy, { command: install });
      assert.equal(status, 0, output);
      return;
    }
    for (const folder of ['.', ...workspaces]) {
      const packages = join(examples, folder, 'node_modules');
      if (existsSync(packages)) symlinkSync(packages, join(copy, folder, 'node_modules'));
    }
  });
  after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));

  it('README.md', () => {
    assert.deepEqual(blocks(readFileSync(join(examples, 'README.md'), 'utf8')), [{ command: install }]);
  });

  for (const name of workspaces) {
    it(`${name}/README.md`, async () => {
      const folder = join(root, 'examples', name);
      const page = readFileSync(join(folder, 'README.md'), 'utf8');
      assert.ok(blocks(page).some(({ shows }) => shows), 'a page shows what one sees');
      for (const block of blocks(page)) {
        const { output, status, pressed } = await run(folder, block);
        const shown = block.shows ?? '(nothing)';
        const told = `\n--- the page says\n${block.command}\n--- it printed\n${output}\n--- the page shows\n${shown}`;
        if (interrupted(block.shows)) assert.ok(pressed, `it ended by itself${told}`);
        else assert.equal(status, 0, told);
        if (block.shows !== undefined) assert.ok(matches(output, block.shows.replace(/^\^C\n/m, '')), told);
      }
    });
  }

  it('their links lead somewhere', () => {
    for (const folder of ['.', ...workspaces]) {
      const page = readFileSync(join(examples, folder, 'README.md'), 'utf8');
      for (const [, link] of page.matchAll(/\]\((?!https?:)([^)#]+)/g)) {
        assert.ok(existsSync(join(examples, folder, link)), `${folder}/README.md: ${link}`);
      }
    }
  });
});
