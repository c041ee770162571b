// Three keys move in from other wallets, sign here, and two move out again.
import { Keypair, SystemProgram, Transaction as SolanaTransaction } from '@solana/web3.js';
import { TurnkeySigner } from '@turnkey/ethers';
import { encodeBase58, HDNodeWallet, parseEther, Wallet } from 'ethers';

import { exportKey, exportPhrase, importKey, importPhrase, refusal, sealKey, sealPhrase, setUp } from './custody.mjs';

const payment = () => ({
  type: 2,
  chainId: 1n,
  nonce: 0,
  to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  value: parseEther('0.1'),
  gasLimit: 21_000n,
  maxFeePerGas: 20_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
});
const same = (one, other) => (one === other ? 'the same' : `DIFFERENT: ${one} and ${other}`);
const refused = (attempt) =>
  attempt.then(
    () => console.log('  it was done!'),
    (error) => console.log(`  refused: ${refusal(error)}`),
  );

const uma = await setUp('Uma');
const signerOf = (signWith) => new TurnkeySigner({ client: uma.client, organizationId: uma.organizationId, signWith });

console.log('A phrase from another wallet');
const old = HDNodeWallet.createRandom();
const { walletId, addresses } = await importPhrase(uma, 'From my phone', await sealPhrase(uma, old.mnemonic.phrase));
console.log(`  address there ${old.address}`);
console.log(`  address here  ${addresses[0]}`);
const signature = await signerOf(addresses[0]).signTransaction(payment());
console.log(`  signature     ${same(signature, await old.signTransaction(payment()))}`);

console.log('A private key from another wallet');
const loose = Wallet.createRandom();
const sealed = await sealKey(uma, loose.privateKey, 'HEXADECIMAL');
const key = await importKey(uma, 'Loose key', sealed, 'CURVE_SECP256K1', ['ADDRESS_FORMAT_ETHEREUM']);
console.log(`  address there ${loose.address}`);
console.log(`  address here  ${key.addresses[0].address}`);
console.log(`  signature     ${same(await signerOf(key.privateKeyId).signMessage('hello'), await loose.signMessage('hello'))}`);

console.log('A private key of Solana');
const keypair = Keypair.generate();
const sealedSolana = await sealKey(uma, encodeBase58(keypair.secretKey), 'SOLANA');
const solana = await importKey(uma, 'Solana key', sealedSolana, 'CURVE_ED25519', ['ADDRESS_FORMAT_SOLANA']);
console.log(`  address there ${keypair.publicKey.toBase58()}`);
console.log(`  address here  ${solana.addresses[0].address}`);
const transfer = new SolanaTransaction({
  feePayer: keypair.publicKey,
  recentBlockhash: Keypair.generate().publicKey.toBase58(),
});
transfer.add(SystemProgram.transfer({ fromPubkey: keypair.publicKey, toPubkey: Keypair.generate().publicKey, lamports: 1000 }));
const { signedTransaction } = await uma.client.signTransaction({
  signWith: solana.addresses[0].address,
  type: 'TRANSACTION_TYPE_SOLANA',
  unsignedTransaction: transfer.serialize({ requireAllSignatures: false }).toString('hex'),
});
const verified = SolanaTransaction.from(Buffer.from(signedTransaction, 'hex')).verifySignatures();
console.log(`  signature     ${verified ? 'verified by @solana/web3.js' : 'WRONG'}`);

console.log('Out again, into a new wallet');
const fresh = HDNodeWallet.fromPhrase(await exportPhrase(uma, walletId));
console.log(`  phrase        ${same(fresh.mnemonic.phrase, old.mnemonic.phrase)}`);
console.log(`  signature     ${same(await fresh.signTransaction(payment()), signature)}`);
const exported = await exportKey(uma, solana.privateKeyId, 'SOLANA');
console.log(`  Solana key    ${same(exported, encodeBase58(keypair.secretKey))}`);

console.log('A phrase with a wrong word');
const words = 'abandon '.repeat(11) + 'abandon'; // the last should be about
await refused(sealPhrase(uma, words).then((bundle) => importPhrase(uma, 'Wrong', bundle)));
console.log('The same bundle twice');
await refused(importKey(uma, 'Loose key again', sealed, 'CURVE_SECP256K1', []));
console.log('A bundle of another user');
const eve = await setUp('Eve');
await sealPhrase(eve, old.mnemonic.phrase); // she has a key to import with, as Uma has
await refused(importPhrase(eve, 'Stolen', await sealPhrase(uma, old.mnemonic.phrase)));
