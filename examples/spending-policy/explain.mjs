// Asks the server, with `latchkey policy explain`, which outcome a payment
// of the backend would have: npm run explain -- ADDRESS ETHER
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Transaction } from 'ethers';

import { setUp } from './admin.mjs';
import { payment } from './backend.mjs';
import { server } from './latchkey.mjs';

const latchkey = process.env.LATCHKEY_BIN || fileURLToPath(new URL('../../bin/latchkey', import.meta.url));
const [to, ether] = process.argv.slice(2);
if (!ether) throw new Error('usage: npm run explain -- ADDRESS ETHER');
const { organizationId, address, backend } = await setUp();

// The command takes the backend's key as the file that `latchkey keygen` makes.
const folder = mkdtempSync(join(tmpdir(), 'spending-policy-'));
try {
  const keyFile = join(folder, 'backend.key');
  writeFileSync(keyFile, `${backend.key.privateKey}:p256\n`, { mode: 0o600 });
  const parameters = {
    type: 'TRANSACTION_TYPE_ETHEREUM',
    signWith: address,
    unsignedTransaction: Transaction.from(payment(to, ether)).unsignedSerialized,
  };
  const where = ['--url', server.url, '--organization', organizationId, '--key', keyFile];
  const args = ['policy', 'explain', ...where, 'sign_transaction', JSON.stringify(parameters)];
  const { status, error } = spawnSync(latchkey, args, { stdio: 'inherit' });
  if (error) throw error;
  console.log(`exit status ${status}`);
} finally {
  rmSync(folder, { recursive: true });
}
