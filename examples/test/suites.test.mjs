// Runs the tests of each example, beside a server of its own.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const examples = fileURLToPath(new URL('..', import.meta.url));
const { workspaces } = JSON.parse(readFileSync(join(examples, 'package.json'), 'utf8'));

const environment = { ...process.env, npm_config_loglevel: 'error', npm_config_update_notifier: 'false' };
delete environment.NODE_TEST_CONTEXT; // how to report to the runner around this
for (const variable of Object.keys(environment)) {
  if (variable.startsWith('LATCHKEY_') && variable !== 'LATCHKEY_BIN') delete environment[variable];
}

async function run(name, command, ...args) {
  const child = spawn(command, args, { cwd: join(examples, name), env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  return { code, output };
}

describe('tests of the examples', { concurrency: 2 }, () => {
  for (const name of workspaces) {
    it(name, async (t) => {
      const { code, output } = await run(name, '../stand-in/with-latchkey', 'npm', 'test');
      assert.equal(code, 0, output);
      const counted = (what) => Number(output.match(new RegExp(`^[#ℹ] ${what} (\\d+)$`, 'm'))?.[1]);
      assert.ok(counted('pass') > 0, `there are no tests\n${output}`);
      assert.equal(counted('pass'), counted('tests'), output);
      t.diagnostic([`${counted('tests')} tests`, ...(output.match(/(?<=[#ℹ] )ready after .*/g) ?? [])].join(', '));
    });
  }

  // A user forgets half of the command line.
  for (const name of workspaces.filter((workspace) => workspace !== 'stand-in')) {
    it(`${name} without a server says what is missing`, async () => {
      const { code, output } = await run(name, 'npm', 'start');
      assert.equal(code, 1, output);
      assert.match(output, /LATCHKEY_URL is not set: run this with \.\.\/stand-in\/with-latchkey/);
    });
  }
});
