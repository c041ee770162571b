// Verifies what a receiver has kept of deliveries (`make deliveries`), each of them.
//
//     node deliveries.mjs FOLDER
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { verified } from './lib/deliveries.mjs';

const [folder] = process.argv.slice(2);
const ledgers = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
assert.ok(ledgers.length > 0, `there are no ledgers in ${folder}`);
for (const name of ledgers) {
  const { keys } = JSON.parse(readFileSync(join(folder, name.replace('.jsonl', '.keys.json')), 'utf8'));
  const ids = new Set();
  let deliveries = 0;
  for (const line of readFileSync(join(folder, name), 'utf8').split('\n')) {
    if (!line.endsWith('}')) continue; // empty, or cut off when the receiver was killed
    const { headers, body } = JSON.parse(line);
    const delivery = { headers, body: Buffer.from(body) };
    const result = verified(keys, delivery, Number(headers['x-turnkey-timestamp']));
    assert.ok(result.ok, `${headers['x-turnkey-event-id']}: ${JSON.stringify(result)}`);
    // The same bytes with another one among them are refused.
    if (deliveries % 100 === 0) {
      const changed = Buffer.from(delivery.body);
      changed[changed.length >> 1] ^= 1;
      assert.ok(!verified(keys, { headers, body: changed }, Number(headers['x-turnkey-timestamp'])).ok);
    }
    ids.add(headers['x-turnkey-event-id']);
    deliveries++;
  }
  assert.ok(deliveries > 0, `${name} is empty`);
  console.log(`${name}: ${deliveries} deliveries of ${ids.size} events are verified`);
}
