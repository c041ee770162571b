// The tests of that program, as they would run against the hosted service.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { verifyMessage } from 'viem';

import { Greeter } from './greeter.mjs';

const config = {
  apiBaseUrl: process.env.LATCHKEY_URL,
  defaultOrganizationId: process.env.LATCHKEY_ORGANIZATION_ID,
  apiPublicKey: process.env.LATCHKEY_API_PUBLIC_KEY,
  apiPrivateKey: process.env.LATCHKEY_API_PRIVATE_KEY,
};

test('a greeting is signed by the wallet', async () => {
  const greeter = new Greeter(config);
  const address = await greeter.open(`greetings ${Date.now()}`);
  const { message, signature } = await greeter.greet(address, 'Ada');
  assert.equal(message, 'Hello, Ada!');
  assert.ok(await verifyMessage({ address, message, signature }));
});

test('an unknown address does not sign', async () => {
  const greeter = new Greeter(config);
  await assert.rejects(greeter.greet('0x000000000000000000000000000000000000dEaD', 'Ada'), { code: 5 }); // not found
});
