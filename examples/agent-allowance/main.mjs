// The agent pays 10 USDC again and again, by transfers and by x402.
import { authorization, limitFor, open, refusal, transfer } from './agent.mjs';
import { setUp } from './setup.mjs';

const ana = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

const place = await setUp();
const wallet = await open(place);
console.log(place.deployed.match(/^done .*/gm).join('\n'));
console.log(`purse ${place.address}\n`);

for (let i = 1; i <= 11; i++) {
  const byTransfer = i % 2 === 1;
  console.log(`payment ${i}: 10 USDC ${byTransfer ? 'by a transfer' : 'by x402'}`);
  const transaction = transfer(ana, '10');
  try {
    if (byTransfer) console.log(`  signed: ${await wallet.account.signTransaction(transaction)}`);
    else console.log(`  signed: ${await wallet.signTypedData(authorization(place.address, ana, '10'))}`);
  } catch (error) {
    console.log(`  refused: ${refusal(error)}`);
    const { used, left, after } = await limitFor(place, transaction);
    console.log(`  usdc_a_day: ${used} used, ${left} left; with this payment ${after}`);
  }
}

for (const [what, attempt] of [
  ['an allowance of everything', () => wallet.signTypedData(permit())],
  ['a message that may be anything', () => wallet.signMessage({ message: 'hello' })],
]) {
  console.log(what);
  await attempt().then(
    () => console.log('  it was signed!'),
    (error) => console.log(`  refused: ${refusal(error)}`),
  );
}

// EIP-2612: whoever has it may take all.
function permit() {
  const { domain } = authorization(place.address, ana, '0');
  const field = (name, type) => ({ name, type });
  return {
    domain,
    primaryType: 'Permit',
    types: {
      Permit: [
        field('owner', 'address'),
        field('spender', 'address'),
        field('value', 'uint256'),
        field('nonce', 'uint256'),
        field('deadline', 'uint256'),
      ],
    },
    message: { owner: place.address, spender: ana, value: 2n ** 256n - 1n, nonce: 0n, deadline: 2n ** 48n },
  };
}
