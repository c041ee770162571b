// Brings policies.yaml to an organization with `latchkey policy apply`, so that
// what is tested is what is deployed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { server } from './latchkey.mjs';

export const policyFile = fileURLToPath(new URL('policies.yaml', import.meta.url));
const program = process.env.LATCHKEY_BIN || fileURLToPath(new URL('../../bin/latchkey', import.meta.url));

// latchkey runs the program and gives what it printed.
export const latchkey = (...args) => execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

// deploy applies the file as the owner of a key.
export function deploy(organizationId, key) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-deploy-'));
  try {
    const keyFile = join(folder, 'key');
    writeFileSync(keyFile, `${key.privateKey}:p256\n`, { mode: 0o600 });
    return latchkey('policy', 'apply', '--yes', '--url', server.url, '--key', keyFile, '--organization', organizationId, policyFile);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
