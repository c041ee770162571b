// What docs/differences.md says about functions of the packages is said of the
// installed versions, and of functions that they have.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { TurnkeyClient } from '@turnkey/core';
import * as crypto from '@turnkey/crypto';
import { server } from '@turnkey/sdk-server';

const local = (name) => fileURLToPath(new URL(name, import.meta.url));
const text = readFileSync(local('../../docs/differences.md'), 'utf8');
const cannot = text.slice(text.indexOf('\n## Cannot work\n'), text.indexOf('\n## What is not there\n'));
const { devDependencies } = JSON.parse(readFileSync(local('../package.json'), 'utf8'));

const core = new TurnkeyClient({ apiBaseUrl: 'http://localhost', organizationId: 'none' });
const packages = { '@turnkey/core': core, '@turnkey/sdk-server': server, '@turnkey/crypto': crypto };

// The functions that a part of the page names, in the first column of its table.
function named(client) {
  const begin = cannot.indexOf(`\n\`${client}\` ${devDependencies[client]}`);
  assert.ok(begin > 0, `there is no part about ${client} ${devDependencies[client]}`);
  const table = cannot.slice(begin).split('\n\n')[1];
  const cells = table.split('\n').slice(2).map((row) => row.split('|')[1]);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
}

describe('docs/differences.md', () => {
  for (const [client, functions] of Object.entries(packages)) {
    it(`names functions of ${client} that are there`, () => {
      const names = named(client);
      assert.ok(names.length > 0);
      for (const name of names) assert.equal(typeof functions[name], 'function', `${client} has no ${name}`);
    });
  }

  // All that ask for a path that is not served are on the page.
  it('leaves out no function of @turnkey/core', () => {
    const names = named('@turnkey/core');
    const compatibility = readFileSync(local('../../docs/compatibility.md'), 'utf8').split('\n## Not served\n')[1];
    const unserved = [...compatibility.matchAll(/^\| `(\w+)` \|/gm)].map(([, path]) => path.replaceAll('_', ''));
    let found = 0;
    for (const name of Object.getOwnPropertyNames(core).filter((name) => typeof core[name] === 'function')) {
      const calls = [...String(core[name]).matchAll(/httpClient\.(\w+?)(?:V\d)?\(/g)].map(([, call]) => call.toLowerCase());
      const missing = calls.filter((call) => unserved.includes(call));
      if (missing.length === 0) continue;
      found++;
      assert.ok(names.includes(name), `${name} calls ${missing}, and is not on the page`);
    }
    assert.ok(found > 2, 'the search is broken');
  });
});
