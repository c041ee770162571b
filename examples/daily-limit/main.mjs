// A day of the treasury.
import { setUp } from './setup.mjs';
import { approve, explain, limit, pay, payment, signedBy } from './treasury.mjs';

const supplier = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

const treasury = await setUp();
const { ada, ben, cleo } = treasury;
const say = (text) => console.log(text);
const sayLimit = async () => {
  const { used, left } = await limit(treasury, ada);
  say(`  the day: ${used} ether used, ${left} left`);
};

say(treasury.deployed.match(/^done .*/gm).join('\n'));
say(`treasury ${treasury.address}\n`);

say('Ada pays 6 ether');
say(`  signed: ${(await pay(treasury, ada, payment(supplier, '6'))).signed}`);
await sayLimit();
say('Ben pays 4 ether');
say(`  signed: ${(await pay(treasury, ben, payment(supplier, '4'))).signed}`);
await sayLimit();

say('\nCleo pays 1 ether');
const { pending } = await pay(treasury, cleo, payment(supplier, '1'));
say(`  ${pending.status}`);
const { control, canApprove } = await explain(treasury, cleo, pending);
say(`  ${control.identifier}: ${control.used} used, ${control.left} left; with this payment ${control.after}`);
say(`  can approve: ${canApprove.join(', ')}`);
say('Ada approves it');
const done = await approve(ada, pending);
say(`  ${done.status}`);
say(`  signed: ${signedBy(done)}`);
await sayLimit();
