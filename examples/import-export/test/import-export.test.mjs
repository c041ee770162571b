// What comes in is the key that it was elsewhere, what goes out is the key that
// it was here, and nothing comes in by mistake. ethers and @solana/web3.js say
// so.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Keypair, PublicKey, SystemProgram, Transaction as SolanaTransaction } from '@solana/web3.js';
import { encryptWalletToBundle, generateP256KeyPair } from '@turnkey/crypto';
import { TurnkeySigner } from '@turnkey/ethers';
import { encodeBase58, HDNodeWallet, Mnemonic, randomBytes, Transaction, verifyMessage, Wallet } from 'ethers';

import {
  ethereumAccount,
  exportKey,
  exportPhrase,
  importKey,
  importPhrase,
  refusal,
  sealKey,
  sealPhrase,
  setUp,
} from '../custody.mjs';
import { apiKey, connect, newKey, server } from '../latchkey.mjs';

const payment = (nonce = 0) => ({
  type: 2,
  chainId: 1n,
  nonce,
  to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  value: 1n,
  gasLimit: 21_000n,
  maxFeePerGas: 2n,
  maxPriorityFeePerGas: 1n,
});
const refuses = async (attempt, pattern) => {
  const error = await attempt.then(
    (result) => assert.fail(`it was done: ${JSON.stringify(result)}`),
    (e) => e,
  );
  assert.match(refusal(error), pattern);
};
const noKey = /^there is no key to import/;
const notForYou = /^encryptedBundle does not open/;

describe('import and export', () => {
  let uma;
  let count = 0;
  const name = () => `import ${++count}`;
  const signerOf = (signWith) => new TurnkeySigner({ client: uma.client, organizationId: uma.organizationId, signWith });
  const importEthereumKey = (sealed) => importKey(uma, name(), sealed, 'CURVE_SECP256K1', ['ADDRESS_FORMAT_ETHEREUM']);
  before(async () => {
    uma = await setUp('Uma');
  });

  for (const words of [12, 24]) {
    it(`a phrase of ${words} words, in and out`, async () => {
      const { phrase } = Mnemonic.fromEntropy(randomBytes((words * 4) / 3));
      assert.equal(phrase.split(' ').length, words);
      // Several accounts of one phrase, each with its own address.
      const path = (i) => `m/44'/60'/0'/0/${i}`;
      const accounts = [0, 1, 7].map((i) => ({ ...ethereumAccount, path: path(i) }));
      const { walletId, addresses } = await importPhrase(uma, name(), await sealPhrase(uma, phrase), accounts);
      const there = [0, 1, 7].map((i) => HDNodeWallet.fromPhrase(phrase, '', path(i)));
      assert.deepEqual(
        addresses,
        there.map((wallet) => wallet.address),
      );
      for (const wallet of there) {
        const signed = await signerOf(wallet.address).signTransaction(payment());
        assert.equal(Transaction.from(signed).from, wallet.address);
        assert.equal(signed, await wallet.signTransaction(payment()));
      }
      const flags = async () => {
        const { wallet } = await uma.client.getWallet({ walletId });
        return [wallet.imported, wallet.exported];
      };
      assert.deepEqual(await flags(), [true, false]);
      assert.equal(await exportPhrase(uma, walletId), phrase);
      assert.deepEqual(await flags(), [true, true]);
    });
  }

  it('a private key, in and out', async () => {
    const there = Wallet.createRandom();
    const { privateKeyId, addresses } = await importEthereumKey(await sealKey(uma, there.privateKey, 'HEXADECIMAL'));
    assert.deepEqual(addresses, [{ format: 'ADDRESS_FORMAT_ETHEREUM', address: there.address }]);
    const signature = await signerOf(privateKeyId).signMessage('hello');
    assert.equal(verifyMessage('hello', signature), there.address);
    const elsewhere = new Wallet(`0x${await exportKey(uma, privateKeyId, 'HEXADECIMAL')}`);
    assert.equal(elsewhere.address, there.address);
    assert.equal(await elsewhere.signMessage('hello'), signature);
  });

  it('a wallet that was made here goes out', async () => {
    const { walletId, addresses } = await uma.client.createWallet({ walletName: name(), accounts: [ethereumAccount] });
    const elsewhere = HDNodeWallet.fromPhrase(await exportPhrase(uma, walletId));
    assert.equal(elsewhere.address, addresses[0]);
    assert.equal(await elsewhere.signTransaction(payment()), await signerOf(addresses[0]).signTransaction(payment()));
  });

  it('a private key of Solana, in and out', async () => {
    const there = Keypair.generate();
    const secret = encodeBase58(there.secretKey);
    const sealed = await sealKey(uma, secret, 'SOLANA');
    const { privateKeyId, addresses } = await importKey(uma, name(), sealed, 'CURVE_ED25519', ['ADDRESS_FORMAT_SOLANA']);
    assert.equal(addresses[0].address, there.publicKey.toBase58());

    const feePayer = new PublicKey(addresses[0].address);
    const transfer = new SolanaTransaction({ feePayer, recentBlockhash: Keypair.generate().publicKey.toBase58() });
    transfer.add(SystemProgram.transfer({ fromPubkey: feePayer, toPubkey: Keypair.generate().publicKey, lamports: 1000 }));
    const { signedTransaction } = await uma.client.signTransaction({
      signWith: addresses[0].address,
      type: 'TRANSACTION_TYPE_SOLANA',
      unsignedTransaction: transfer.serialize({ requireAllSignatures: false }).toString('hex'),
    });
    const signed = SolanaTransaction.from(Buffer.from(signedTransaction, 'hex'));
    assert.ok(signed.verifySignatures());
    assert.deepEqual(signed.serializeMessage(), transfer.serializeMessage());
    transfer.sign(there);
    assert.deepEqual(signed.signature, transfer.signature);
    assert.equal(await exportKey(uma, privateKeyId, 'SOLANA'), secret);
  });

  it('an invalid phrase is refused', async () => {
    const phrase = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
    const wallets = async () => (await uma.client.getWallets()).wallets.length;
    const before = await wallets();
    for (const [words, pattern] of [
      [phrase.replace('about', 'abandon'), /checksum/],
      [phrase.replace('about', 'abuot'), /mnemonic/],
      [phrase.slice(0, -6), /mnemonic/],
    ]) {
      await refuses(
        sealPhrase(uma, words).then((bundle) => importPhrase(uma, name(), bundle)),
        pattern,
      );
    }
    assert.equal(await wallets(), before);
  });

  it('an invalid private key is refused', async () => {
    const zero = '00'.repeat(32);
    const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141';
    for (const text of [zero, order]) {
      await refuses(sealKey(uma, text, 'HEXADECIMAL').then(importEthereumKey), /private key/);
    }
  });

  it('a bundle is valid once', async () => {
    const sealed = await sealPhrase(uma, Mnemonic.fromEntropy(randomBytes(16)).phrase);
    await importPhrase(uma, name(), sealed);
    await refuses(importPhrase(uma, name(), sealed), noKey);
    // Nor later, to another key.
    await sealPhrase(uma, Mnemonic.fromEntropy(randomBytes(16)).phrase);
    await refuses(importPhrase(uma, name(), sealed), notForYou);
  });

  it('a bundle is valid for one user', async () => {
    const { phrase } = Mnemonic.fromEntropy(randomBytes(16));
    // Eve may import too, here and in an organization of her own.
    const key = newKey();
    const { userIds } = await uma.client.createUsers({
      users: [{ userName: 'Eve', apiKeys: [apiKey('laptop', key)], authenticators: [], oauthProviders: [], userTags: [] }],
    });
    await uma.client.createPolicy({
      policyName: 'Eve imports',
      effect: 'EFFECT_ALLOW',
      condition: "activity.action == 'IMPORT'",
      consensus: `approvers.any(user, user.id == '${userIds[0]}')`,
      notes: '',
    });
    const eve = { userId: userIds[0], organizationId: uma.organizationId, client: connect(uma.organizationId, key) };
    for (const thief of [eve, await setUp('Eve')]) {
      const sealed = await sealPhrase(uma, phrase);
      await refuses(importPhrase(thief, 'Stolen', sealed), noKey);
      await sealPhrase(thief, phrase);
      await refuses(importPhrase(thief, 'Stolen', sealed), notForYou);
      // On behalf of Uma, Eve may do nothing.
      const asUma = { ...thief, userId: uma.userId };
      await refuses(importPhrase(asUma, 'Stolen', sealed), /^userId must be the caller/);
      await refuses(sealPhrase(asUma, phrase), /^userId must be the caller/);
      // And it is still valid for Uma.
      const { walletId } = await importPhrase(uma, name(), sealed);
      assert.equal(await exportPhrase(uma, walletId), phrase);
      await refuses(
        thief.client.exportWallet({ walletId, targetPublicKey: generateP256KeyPair().publicKeyUncompressed }),
        /^You don't have sufficient permissions|^no wallet with id/,
      );
    }
    // Before Uma encrypts, her client checks for which user the bundle is and who signed it.
    const { importBundle } = await eve.client.initImportWallet({ userId: eve.userId });
    const { userId, organizationId } = uma;
    const dangerouslyOverrideSignerPublicKey = server.signerPublicKey;
    const own = { mnemonic: phrase, importBundle, organizationId };
    await assert.rejects(
      encryptWalletToBundle({ ...own, userId, dangerouslyOverrideSignerPublicKey }),
      /user id does not match/,
    );
    const another = generateP256KeyPair().publicKeyUncompressed;
    await assert.rejects(
      encryptWalletToBundle({ ...own, userId: eve.userId, dangerouslyOverrideSignerPublicKey: another }),
      /signer|signature/i,
    );
    await encryptWalletToBundle({ ...own, userId: eve.userId, dangerouslyOverrideSignerPublicKey });
  });

  it('what went out may be deleted, what did not may not', async () => {
    const { walletId } = await importPhrase(uma, name(), await sealPhrase(uma, Mnemonic.fromEntropy(randomBytes(16)).phrase));
    await refuses(uma.client.deleteWallets({ walletIds: [walletId] }), /export/);
    await exportPhrase(uma, walletId);
    await uma.client.deleteWallets({ walletIds: [walletId] });
    await refuses(uma.client.getWallet({ walletId }), /^no wallet with id/);
  });
});
