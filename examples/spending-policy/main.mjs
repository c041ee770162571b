// The administrator sets up, then the backend tries what it may and may not.
import { formatEther, formatUnits } from 'ethers';

import { setUp } from './admin.mjs';
import { openWallet, payment, refusal, whyNot } from './backend.mjs';

const supplier = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

const shop = await setUp();
console.log(`organization ${shop.organizationId}`);
console.log(`wallet       ${shop.address}`);
console.log(`backend      ${shop.backend.userId}\n`);

const wallet = openWallet(shop);
for (const transaction of [
  payment(supplier, '0.5'),
  payment(supplier, '0.6'),
  payment(stranger, '0.1'),
  payment(supplier, '0.1', { chainId: 1n }),
  payment(supplier, '0.1', { maxFeePerGas: 1_000_000_000_000n }),
]) {
  const { value, to, chainId, maxFeePerGas } = transaction;
  const fee = Number(formatUnits(maxFeePerGas, 'gwei'));
  console.log(`${formatEther(value)} ether to ${to} on chain ${chainId}, ${fee} gwei a gas`);
  try {
    console.log(`  signed: ${await wallet.signTransaction(transaction)}`);
  } catch (error) {
    console.log(`  refused: ${refusal(error).message}`);
    for (const part of await whyNot(shop, transaction)) console.log(`  not true: ${part}`);
  }
}

console.log('a message, which is bytes that could be anything');
try {
  console.log(`  signed: ${await wallet.signMessage('hello')}`);
} catch (error) {
  const { message, reason } = refusal(error);
  console.log(`  refused: ${message}\n  ${reason}`);
}
