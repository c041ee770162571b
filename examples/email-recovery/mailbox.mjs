// The user's mailbox. A development server sends nothing: it writes each mail
// to a file in LATCHKEY_DATA/outbox. With a server that does send, the user
// types what the mail says.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const patience = 300_000; // longer than any machine is slow

// mails are those to an address, oldest first.
export function mails(data, address) {
  const folder = join(data, 'outbox');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.eml'))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .filter((mail) => mail.match(/^To: .*$/m)?.[0].includes(address));
}

// bundleFrom waits for the nth mail to an address, and gives the bundle in it.
export async function bundleFrom(data, address, nth = 1) {
  if (!data) {
    const terminal = createInterface({ input: stdin, output: stdout });
    const bundle = await terminal.question(`The code in the mail to ${address}: `);
    terminal.close();
    return bundle.trim();
  }
  for (const deadline = Date.now() + patience; ; await sleep(20)) {
    const mail = mails(data, address)[nth - 1];
    if (mail) return mail.match(/^X-Latchkey-Bundle: (\S+)/m)[1];
    if (Date.now() > deadline) throw new Error(`no mail came to ${address}`);
  }
}
