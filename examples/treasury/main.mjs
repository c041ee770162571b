// A day of the treasury.
import { formatEther } from 'ethers';

import { setUp } from './setup.mjs';
import { approve, pay, payment, refusal, reject, review, signedBy } from './treasury.mjs';

const supplier = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

const treasury = await setUp();
const { ada, ben, cleo, dan } = treasury;
const say = (text) => console.log(text);
const names = Object.fromEntries([ada, ben, cleo, dan].map(({ userId, name }) => [userId, name]));
const votes = (activity) => activity.votes.map((vote) => `${names[vote.userId]} ${vote.selection}`).join(', ');
const refused = (attempt) =>
  attempt.then(
    () => say('  it was done!'),
    (error) => say(`  refused: ${refusal(error)}`),
  );

say(`organization ${treasury.organizationId}`);
say(`treasury     ${treasury.address}`);

say('\nAda pays 0.5 ether');
const small = await pay(treasury, ada, payment(supplier, '0.5'));
say(`  signed: ${small.signed}`);

say('\nAda pays 40 ether');
const { pending: large } = await pay(treasury, ada, payment(supplier, '40', { nonce: 1 }));
say(`  ${large.status}`);
say(`  ${large.fingerprint}`);
say('Dan approves it');
await refused(approve(dan, large));
const { to, value } = review(large);
say(`Ben sees ${formatEther(value)} ether to ${to}, and approves it`);
const done = await approve(ben, large);
say(`  ${done.status}: ${votes(done)}`);
say(`  signed: ${signedBy(done)}`);

say('\nCleo pays 100 ether to a stranger');
const { pending: odd } = await pay(treasury, cleo, payment(stranger, '100', { nonce: 2 }));
say(`  ${odd.status}`);
say('Ben rejects it');
say(`  ${(await reject(ben, odd)).status}`);
say('Ada approves it');
await refused(approve(ada, odd));

say('\nAda wants to be the root quorum alone');
const alone = await ada.client.updateRootQuorum({ threshold: 1, userIds: [ada.userId] });
say(`  ${alone.activity.status}`);
say('Cleo rejects it');
say(`  ${(await reject(cleo, alone.activity)).status}`);

say('\nAda wants a limit of 2 ether');
const { policies } = await ada.client.getPolicies();
const limit = policies.find((policy) => policy.policyName === 'One officer pays a little');
const raise = await ada.client.updatePolicy({
  policyId: limit.policyId,
  policyCondition: limit.condition.replace('<= 1000000000000000000', '<= 2000000000000000000'),
});
say(`  ${raise.activity.status}`);
say('Cleo approves it');
say(`  ${(await approve(cleo, raise.activity)).status}`);
say('Ada pays 2 ether');
say(`  signed: ${(await pay(treasury, ada, payment(supplier, '2', { nonce: 2 }))).signed}`);
