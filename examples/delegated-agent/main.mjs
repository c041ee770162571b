// Uma gives the agent a mandate, and the agent tries what it may and may not.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEther, parseUnits } from 'ethers';

import { call, open, refusal, whyNot } from './agent.mjs';
import { apiKey, newKey } from './latchkey.mjs';
import { mandate, setUp } from './owner.mjs';

const ana = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const otherToken = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const usdc = (amount) => parseUnits(amount, 6);

const place = await setUp();
const key = newKey();
await mandate(place, key.publicKey, 3600);
const agent = open(place, key);
console.log(`wallet of Uma ${place.address}`);
console.log(`agent         ${place.agentId}, for an hour\n`);

for (const [what, transaction] of [
  ['transfer 25 USDC to Ana', call('transfer', [ana, usdc('25')])],
  ['transfer 101 USDC to Ana', call('transfer', [ana, usdc('101')])],
  ['transfer 25 USDC to a stranger', call('transfer', [stranger, usdc('25')])],
  ['approve Ana for 25 USDC', call('approve', [ana, usdc('25')])],
  ['transfer 25 of another token to Ana', call('transfer', [ana, usdc('25')], { to: otherToken })],
  ['pay 1 ether to Ana', { ...call('transfer', [ana, 0n]), to: ana, data: '0x', value: parseEther('1') }],
]) {
  console.log(what);
  try {
    console.log(`  signed: ${await agent.signer.signTransaction(transaction)}`);
  } catch (error) {
    console.log(`  refused: ${refusal(error)}`);
    for (const part of await whyNot(agent, transaction)) console.log(`  not true: ${part}`);
  }
}

const { userId } = await agent.client.getWhoami();
for (const [what, attempt] of [
  ['sign a message', () => agent.signer.signMessage('hello')],
  [
    'write a policy of its own',
    () =>
      agent.client.createPolicy({
        policyName: 'More',
        effect: 'EFFECT_ALLOW',
        condition: "activity.action == 'SIGN'",
        consensus: `approvers.any(user, user.id == '${userId}')`,
        notes: '',
      }),
  ],
  ['add a key that does not expire', () => agent.client.createApiKeys({ userId, apiKeys: [apiKey('forever', newKey())] })],
]) {
  console.log(what);
  await attempt().then(
    () => console.log('  it was done!'),
    (error) => console.log(`  refused: ${refusal(error)}`),
  );
}

console.log('\na mandate of one second, after two');
const short = newKey();
await mandate(place, short.publicKey, 1);
await sleep(2000);
await open(place, short)
  .signer.signTransaction(call('transfer', [ana, usdc('25')]))
  .then(
    () => console.log('  it was done!'),
    (error) => console.log(`  refused: ${refusal(error)}`),
  );
