// Wallets and private keys: made, imported, exported and used for signing
// through the published clients and signers, and checked with libraries that
// are independent of Latchkey.
import assert from 'node:assert/strict';
import { createHmac, createPublicKey, randomBytes, verify } from 'node:crypto';
import { after, before, describe, it } from 'node:test';

import { rawSecp256k1PubkeyToRawAddress } from '@cosmjs/amino';
import { Secp256k1, Secp256k1Signature, sha256 } from '@cosmjs/crypto';
import { fromBase64, toBech32 } from '@cosmjs/encoding';
import { makeSignBytes, makeSignDoc } from '@cosmjs/proto-signing';
import {
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction as SolanaTransaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { TurnkeyDirectWallet } from '@turnkey/cosmjs';
import { decryptExportBundle, encryptPrivateKeyToBundle, encryptWalletToBundle, generateP256KeyPair } from '@turnkey/crypto';
import { TurnkeySigner as EthersSigner } from '@turnkey/ethers';
import { TurnkeySigner as SolanaSigner } from '@turnkey/solana';
import { createAccount } from '@turnkey/viem';
import * as ethers from 'ethers';
import {
  createWalletClient,
  http as httpTransport,
  parseTransaction,
  recoverMessageAddress,
  recoverTransactionAddress,
  recoverTypedDataAddress,
} from 'viem';
import { mainnet } from 'viem/chains';
import { recoverAuthorizationAddress } from 'viem/utils';

import { completed, flavours, newKey, send } from '../lib/clients.mjs';
import { through } from '../lib/record.mjs';
import { newPlace, startServer, storeName } from '../lib/server.mjs';
import { shape } from '../lib/shapes.mjs';

// The phrase of the standards, and what BIP-84 and BIP-86 say of it. The other
// addresses are computed here.
const phrase = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const bip84 = 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu';
const bip86 = 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr';
// One private key in both of its text forms.
const rawKey = '67ee05fc3bdf4161bc70701c221d8d77180294cefcfcea64ba83c4d4c732fcb9';
const rawKeySolana = '35X27PFdHPn5k9cRr7ZxhrAc1Qa6FvjyY8zkSyAnpvJG1RnCif8VscSBqHmhhWSBpncRMfyvMwuEvGAhqD7CWUP5';

const account = (curve, addressFormat, path, more) => ({
  curve: `CURVE_${curve}`,
  pathFormat: 'PATH_FORMAT_BIP32',
  path,
  addressFormat: `ADDRESS_FORMAT_${addressFormat}`,
  ...more,
});
const ethereum = (i, more) => account('SECP256K1', 'ETHEREUM', `m/44'/60'/0'/0/${i}`, more);
const solana = (i) => account('ED25519', 'SOLANA', `m/44'/501'/${i}'/0'`);
const p2wpkh = account('SECP256K1', 'BITCOIN_MAINNET_P2WPKH', "m/84'/0'/0'/0/0");
const p2tr = account('SECP256K1', 'BITCOIN_MAINNET_P2TR', "m/86'/0'/0'/0/0");
const cosmos = account('SECP256K1', 'COSMOS', "m/44'/118'/0'/0/0");
const oneOfEach = [ethereum(0), solana(0), p2wpkh, p2tr, cosmos];

// What other libraries derive from a phrase.
const ethersNode = (words, path, passphrase = '') => ethers.HDNodeWallet.fromPhrase(words, passphrase, path);
function solanaKeypair(words, path, passphrase = '') {
  // SLIP-10; @solana/web3.js leaves it to the application.
  const step = (key, data) => createHmac('sha512', key).update(data).digest();
  let node = step('ed25519 seed', ethers.getBytes(ethers.Mnemonic.fromPhrase(words, passphrase).computeSeed()));
  for (const part of path.split('/').slice(1)) {
    const index = Buffer.alloc(4);
    index.writeUInt32BE(parseInt(part, 10) + 0x80000000);
    node = step(node.subarray(32), Buffer.concat([Buffer.alloc(1), node.subarray(0, 32), index]));
  }
  return Keypair.fromSeed(node.subarray(0, 32));
}
const cosmosAddress = (publicKey) => toBech32('cosmos', rawSecp256k1PubkeyToRawAddress(publicKey));
function expectedAddresses(words) {
  return {
    [ethereum(0).addressFormat]: ethersNode(words, ethereum(0).path).address,
    [solana(0).addressFormat]: solanaKeypair(words, solana(0).path).publicKey.toBase58(),
    [cosmos.addressFormat]: cosmosAddress(ethers.getBytes(ethersNode(words, cosmos.path).publicKey)),
  };
}

function verifyEd25519(address, message, signature) {
  const x = Buffer.from(new PublicKey(address).toBytes()).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, message, key, signature);
}

const typedData = {
  domain: { name: 'Ether Mail', version: '1', chainId: 1, verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC' },
  types: {
    Person: [
      { name: 'name', type: 'string' },
      { name: 'wallets', type: 'address[]' },
    ],
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person[]' },
      { name: 'amount', type: 'uint256' },
      { name: 'change', type: 'int64' },
      { name: 'tag', type: 'bytes4' },
      { name: 'data', type: 'bytes' },
      { name: 'paid', type: 'bool' },
    ],
  },
  primaryType: 'Mail',
  message: {
    from: { name: 'Cow', wallets: ['0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826'] },
    to: [
      { name: 'Bob — ß', wallets: ['0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB', '0xB0BdaBea57B0BDABeA57b0bdABEA57b0BDabEa57'] },
    ],
    amount: 2n ** 200n + 1n,
    change: -5n,
    tag: '0x01020304',
    data: '0xdeadbeef',
    paid: true,
  },
};

const payee = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const accessList = [{ address: payee, storageKeys: [`0x${'01'.repeat(32)}`] }];

describe(`keys on ${storeName}`, () => {
  const place = newPlace();
  let server;
  let dev;
  let rootKey;
  const adaKey = newKey();
  let adaId;

  before(async () => {
    server = await startServer(place);
    dev = server.dev;
    rootKey = { apiPublicKey: dev.apiPublicKey, apiPrivateKey: dev.apiPrivateKey };
    const apiKeys = [{ apiKeyName: 'hers', publicKey: adaKey.apiPublicKey, curveType: 'API_KEY_CURVE_P256' }];
    const users = [{ userName: 'Ada', apiKeys, authenticators: [], oauthProviders: [], userTags: [] }];
    const activity = await flavours[0].connect(dev, rootKey).submit('createUsers', { users });
    [adaId] = completed(activity, 'createUsers', dev).userIds;
  });
  after(async () => {
    try {
      await server?.stop();
    } finally {
      await server?.end();
      place.remove();
    }
  });

  for (const flavour of flavours) {
    describe(flavour.name, () => {
      const { RequestError, label } = flavour;
      let root;
      let ada;

      // The result of an activity that completes, and a reply.
      const run = async (method, parameters) => completed(await root.submit(method, parameters), method, dev);
      const query = (method, body) => root.query(method, body);
      const codes = { 400: 3, 403: 7, 404: 5, 409: 6 };
      // A refusal, as the client shows it and on the wire.
      const refuses = async (status, method, parameters, pattern = /./, who = root) => {
        await assert.rejects(who.submit(method, parameters), (error) => {
          assert.ok(error instanceof RequestError, `${error?.stack}`);
          assert.equal(error.code, codes[status], error.message);
          assert.match(error.message, pattern);
          return true;
        });
        const { status: got, reply } = await send(await who.sign(method, parameters));
        assert.equal(got, status);
        assert.equal(shape.error(reply).code, codes[status]);
        assert.match(reply.message, pattern);
      };
      const notFound = (error) => error instanceof RequestError && error.code === 5;
      const newWallet = (name, accounts, more) => run('createWallet', { walletName: `${label} ${name}`, accounts, ...more });
      const newPrivateKey = async (name, curve, formats, privateKeyTags = []) => {
        const addressFormats = formats.map((f) => `ADDRESS_FORMAT_${f}`);
        const parameters = { privateKeyName: `${label} ${name}`, curve: `CURVE_${curve}`, privateKeyTags, addressFormats };
        const { privateKeys } = await run('createPrivateKeys', { privateKeys: [parameters] });
        assert.equal(privateKeys.length, 1);
        assert.deepEqual(
          privateKeys[0].addresses.map((a) => a.format),
          addressFormats,
        );
        return privateKeys[0];
      };
      const getPrivateKey = async (privateKeyId) => shape.privateKey((await query('getPrivateKey', { privateKeyId })).privateKey);

      before(() => {
        root = flavour.connect(dev, rootKey);
        ada = flavour.connect(dev, adaKey);
      });

      describe('wallets', () => {
        let walletId;
        let addresses;
        const accounts = async (paginationOptions) => {
          const list = (await query('getWalletAccounts', { walletId, paginationOptions })).accounts;
          list.forEach(shape.walletAccount);
          return list;
        };
        const wallets = async () => {
          const list = (await query('getWallets')).wallets;
          list.forEach(shape.wallet);
          return list;
        };

        it('create_wallet with an account of each kind', async () => {
          const parameters = { walletName: `${label} main`, accounts: oneOfEach, mnemonicLength: 24 };
          const activity = await root.submit('createWallet', parameters);
          ({ walletId, addresses } = completed(activity, 'createWallet', dev));
          assert.deepEqual(activity.intent.createWalletIntent, parameters);
          assert.equal(addresses.length, oneOfEach.length);
          const [eth, sol, segwit, taproot, atom] = addresses;
          assert.equal(ethers.getAddress(eth), eth, 'EIP-55');
          assert.equal(new PublicKey(sol).toBase58(), sol);
          assert.match(segwit, /^bc1q[0-9a-z]{38}$/);
          assert.match(taproot, /^bc1p[0-9a-z]{58}$/);
          assert.match(atom, /^cosmos1[0-9a-z]{38}$/);

          const list = await accounts();
          assert.deepEqual(
            list.map((a) => a.address),
            addresses,
          );
          list.forEach((a, i) => {
            assert.equal(a.walletId, walletId);
            assert.equal(a.organizationId, dev.organizationId);
            const { curve, pathFormat, path, addressFormat } = a;
            assert.deepEqual({ curve, pathFormat, path, addressFormat }, oneOfEach[i]);
          });
          assert.equal(ethers.computeAddress(`0x${list[0].publicKey}`), eth);
          assert.equal(Buffer.from(new PublicKey(sol).toBytes()).toString('hex'), list[1].publicKey);
          assert.equal(cosmosAddress(Buffer.from(list[4].publicKey, 'hex')), atom);
        });

        it('get_wallet and list_wallets', async () => {
          const { wallet } = await query('getWallet', { walletId });
          shape.wallet(wallet);
          assert.equal(wallet.walletName, `${label} main`);
          assert.deepEqual([wallet.exported, wallet.imported], [false, false]);
          assert.deepEqual(
            (await wallets()).find((w) => w.walletId === walletId),
            wallet,
          );
          // Every user of the organization may read.
          assert.deepEqual((await ada.query('getWallet', { walletId })).wallet, wallet);
        });

        it('get_wallet_account by address and by path', async () => {
          const list = await accounts();
          const [eth, sol] = list;
          const get = async (by) => shape.walletAccount((await query('getWalletAccount', { walletId, ...by })).account);
          for (const one of list) {
            assert.deepEqual(await get({ address: one.address }), one);
            assert.deepEqual(await get({ path: one.path }), one);
          }
          assert.deepEqual(await get({ address: eth.address.toLowerCase() }), eth);
          assert.deepEqual(await get({ address: sol.address, path: sol.path }), sol);
          await assert.rejects(query('getWalletAccount', { walletId, path: "m/44'/60'/9'/0/0" }), notFound);
          await assert.rejects(query('getWalletAccount', { walletId, address: payee }), notFound);
        });

        it('create_wallet_accounts', async () => {
          const more = [ethereum(1, { name: 'second' }), ethereum(2)];
          const result = await run('createWalletAccounts', { walletId, accounts: more });
          assert.equal(result.addresses.length, 2);
          addresses.push(...result.addresses);
          const list = await accounts();
          assert.deepEqual(
            list.map((a) => a.address),
            addresses,
          );
          assert.deepEqual(
            list.map((a) => a.name),
            [undefined, undefined, undefined, undefined, undefined, 'second', undefined],
          );
          await refuses(400, 'createWalletAccounts', { walletId, accounts: [ethereum(1)] }, /invalid path/);
        });

        it('create_wallet_accounts with persist false only tells', async () => {
          const told = await run('createWalletAccounts', { walletId, accounts: [ethereum(3), solana(3)], persist: false });
          assert.equal((await accounts()).length, addresses.length);
          await assert.rejects(query('getWalletAccount', { walletId, address: told.addresses[0] }), notFound);
          const kept = await run('createWalletAccounts', { walletId, accounts: [ethereum(3), solana(3)], persist: true });
          assert.deepEqual(kept, told);
          addresses.push(...kept.addresses);
        });

        it('list_wallet_accounts, page by page', async () => {
          const more = await run('createWalletAccounts', { walletId, accounts: [4, 5, 6, 7].map((i) => ethereum(i)) });
          addresses.push(...more.addresses);
          const all = await accounts({ limit: '100' });
          assert.deepEqual(
            all.map((a) => a.address),
            addresses,
          );
          assert.deepEqual(await accounts({ limit: '4' }), all.slice(0, 4));
          assert.deepEqual(await accounts({ limit: '4', after: all[3].walletAccountId }), all.slice(4, 8));
          assert.deepEqual(await accounts({ limit: '2', before: all[5].walletAccountId }), all.slice(3, 5));
          const walked = [];
          for (let after; ; after = walked.at(-1).walletAccountId) {
            const page = await accounts({ limit: '5', ...(after && { after }) });
            if (page.length === 0) break;
            walked.push(...page);
            assert.ok(walked.length <= all.length, 'paging does not end');
          }
          assert.deepEqual(walked, all);

          const { wallet } = await query('getWallet', { walletId });
          const { accounts: detailed } = await query('getWalletAccounts', {
            walletId,
            includeWalletDetails: true,
            paginationOptions: { limit: '1' },
          });
          assert.deepEqual(shape.walletAccount(detailed[0]), { ...all[0], walletDetails: wallet });
        });

        it('update_wallet', async () => {
          assert.deepEqual(await run('updateWallet', { walletId, walletName: `${label} renamed` }), { walletId });
          assert.equal((await query('getWallet', { walletId })).wallet.walletName, `${label} renamed`);
          await refuses(409, 'createWallet', { walletName: `${label} renamed`, accounts: [] });
        });

        it('delete_wallet_accounts', async () => {
          const [eth] = await accounts();
          const walletAccountIds = [eth.walletAccountId];
          await refuses(400, 'deleteWalletAccounts', { walletAccountIds }, /has not been exported/);
          const deleted = await run('deleteWalletAccounts', { walletAccountIds, deleteWithoutExport: true });
          assert.deepEqual(deleted, { walletAccountIds });
          await assert.rejects(query('getWalletAccount', { walletId, address: eth.address }), notFound);
          const again = await run('createWalletAccounts', { walletId, accounts: [ethereum(0)] });
          assert.deepEqual(again.addresses, [eth.address]);
        });

        it('delete_wallets', async () => {
          await refuses(400, 'deleteWallets', { walletIds: [walletId] }, /has not been exported/);
          assert.deepEqual(await run('deleteWallets', { walletIds: [walletId], deleteWithoutExport: true }), {
            walletIds: [walletId],
          });
          await assert.rejects(query('getWallet', { walletId }), notFound);
          assert.ok(!(await wallets()).some((w) => w.walletId === walletId));
        });
      });

      describe('private keys', () => {
        let key;
        let tagId;

        it('create_private_keys with a tag', async () => {
          tagId = (await run('createPrivateKeyTag', { privateKeyTagName: `${label} cold`, privateKeyIds: [] })).privateKeyTagId;
          key = await newPrivateKey('first', 'SECP256K1', ['ETHEREUM', 'COSMOS', 'COMPRESSED', 'UNCOMPRESSED'], [tagId]);
          const [eth, atom, compressed, uncompressed] = key.addresses.map((a) => a.address);
          const stored = await getPrivateKey(key.privateKeyId);
          assert.equal(stored.privateKeyName, `${label} first`);
          assert.deepEqual(stored.addresses, key.addresses);
          assert.deepEqual(stored.privateKeyTags, [tagId]);
          assert.deepEqual([stored.exported, stored.imported], [false, false]);
          assert.equal(ethers.computeAddress(`0x${stored.publicKey}`), eth);
          assert.equal(cosmosAddress(Buffer.from(compressed, 'hex')), atom);
          assert.equal(uncompressed, stored.publicKey);

          const sol = await newPrivateKey('third', 'ED25519', ['SOLANA']);
          const { publicKey } = await getPrivateKey(sol.privateKeyId);
          assert.equal(new PublicKey(Buffer.from(publicKey, 'hex')).toBase58(), sol.addresses[0].address);
          const p256 = await newPrivateKey('second', 'P256', []);
          const { privateKeys } = await query('getPrivateKeys');
          privateKeys.forEach(shape.privateKey);
          for (const id of [key, sol, p256].map((k) => k.privateKeyId)) {
            assert.deepEqual(
              privateKeys.find((k) => k.privateKeyId === id),
              await getPrivateKey(id),
            );
          }
        });

        it('private key tags', async () => {
          const second = await newPrivateKey('tagged', 'SECP256K1', []);
          const update = {
            privateKeyTagId: tagId,
            newPrivateKeyTagName: `${label} warm`,
            addPrivateKeyIds: [second.privateKeyId],
            removePrivateKeyIds: [key.privateKeyId],
          };
          assert.deepEqual(await run('updatePrivateKeyTag', update), { privateKeyTagId: tagId });
          assert.deepEqual((await getPrivateKey(second.privateKeyId)).privateKeyTags, [tagId]);
          assert.deepEqual((await getPrivateKey(key.privateKeyId)).privateKeyTags, []);
          const tags = async () => {
            const { privateKeyTags } = await query('listPrivateKeyTags');
            privateKeyTags.forEach(shape.tag);
            return privateKeyTags;
          };
          const tag = (await tags()).find((t) => t.tagId === tagId);
          assert.equal(tag.tagName, `${label} warm`);
          assert.equal(tag.tagType, 'TAG_TYPE_PRIVATE_KEY');
          const deleted = await run('deletePrivateKeyTags', { privateKeyTagIds: [tagId] });
          assert.deepEqual(deleted, { privateKeyTagIds: [tagId], privateKeyIds: [second.privateKeyId] });
          assert.deepEqual((await getPrivateKey(second.privateKeyId)).privateKeyTags, []);
          assert.ok(!(await tags()).some((t) => t.tagId === tagId));
        });

        it('delete_private_keys', async () => {
          const privateKeyIds = [key.privateKeyId];
          await refuses(400, 'deletePrivateKeys', { privateKeyIds }, /has not been exported/);
          assert.deepEqual(await run('deletePrivateKeys', { privateKeyIds, deleteWithoutExport: true }), { privateKeyIds });
          await assert.rejects(query('getPrivateKey', { privateKeyId: key.privateKeyId }), notFound);
        });
      });

      describe('bundles of @turnkey/crypto', () => {
        // What a client knows besides the bundle.
        const known = () => ({ organizationId: dev.organizationId, dangerouslyOverrideSignerPublicKey: dev.signerPublicKey });
        const own = () => ({ ...known(), userId: dev.userId });
        // What this package opens or seals counts as its own.
        const crypto = (method, parameters) => through('@turnkey/crypto', () => run(method, parameters));
        const initImport = async (method) => (await crypto(method, { userId: dev.userId })).importBundle;
        const sealWallet = async (mnemonic) =>
          encryptWalletToBundle({ mnemonic, importBundle: await initImport('initImportWallet'), ...own() });
        const sealKey = async (privateKey, keyFormat) =>
          encryptPrivateKeyToBundle({ privateKey, keyFormat, importBundle: await initImport('initImportPrivateKey'), ...own() });
        const asWallet = (name, encryptedBundle, accounts = []) => ({
          userId: dev.userId,
          walletName: `${label} ${name}`,
          encryptedBundle,
          accounts,
        });
        const asKey = (name, encryptedBundle, curve, formats) => ({
          userId: dev.userId,
          privateKeyName: `${label} ${name}`,
          encryptedBundle,
          curve: `CURVE_${curve}`,
          addressFormats: formats.map((f) => `ADDRESS_FORMAT_${f}`),
        });
        // Exports, and opens what comes.
        const open = async (method, what, options, form = 'publicKeyUncompressed') => {
          const target = generateP256KeyPair();
          const { exportBundle, ...rest } = await crypto(method, { ...what, targetPublicKey: target[form] });
          assert.deepEqual(rest, what);
          return decryptExportBundle({ exportBundle, embeddedKey: target.privateKey, ...known(), ...options });
        };
        const words = (walletId, form) => open('exportWallet', { walletId }, { returnMnemonic: true }, form);

        it('a known phrase, in and out', async () => {
          const { walletId, addresses } = await crypto('importWallet', asWallet('known', await sealWallet(phrase), oneOfEach));
          const expected = expectedAddresses(phrase);
          assert.deepEqual(addresses, [
            expected.ADDRESS_FORMAT_ETHEREUM,
            expected.ADDRESS_FORMAT_SOLANA,
            bip84,
            bip86,
            expected.ADDRESS_FORMAT_COSMOS,
          ]);
          const flags = async () => {
            const { wallet } = await query('getWallet', { walletId });
            return [shape.wallet(wallet).imported, wallet.exported];
          };
          assert.deepEqual(await flags(), [true, false]);
          assert.equal(await words(walletId), phrase);
          assert.deepEqual(await flags(), [true, true]);
          assert.equal(await words(walletId, 'publicKey'), phrase); // a compressed target

          // Single accounts, by address.
          const [eth, sol] = addresses;
          assert.equal(
            await open('exportWalletAccount', { address: eth }),
            ethersNode(phrase, ethereum(0).path).privateKey.slice(2),
          );
          const secret = await open('exportWalletAccount', { address: sol }, { keyFormat: 'SOLANA' });
          assert.equal(secret, ethers.encodeBase58(solanaKeypair(phrase, solana(0).path).secretKey));
          // Exported, so that it may go.
          await run('deleteWallets', { walletIds: [walletId] });
        });

        it('a phrase with a passphrase', async () => {
          const text = `${phrase}\nTREZOR`;
          const { walletId, addresses } = await crypto(
            'importWallet',
            asWallet('passphrase', await sealWallet(text), [ethereum(0), solana(0)]),
          );
          assert.deepEqual(addresses, [
            ethersNode(phrase, ethereum(0).path, 'TREZOR').address,
            solanaKeypair(phrase, solana(0).path, 'TREZOR').publicKey.toBase58(),
          ]);
          assert.equal(await words(walletId), text);
          await run('deleteWallets', { walletIds: [walletId] });
        });

        it('a phrase that was made here gives the same addresses elsewhere', async () => {
          for (const mnemonicLength of [undefined, 15, 24]) {
            const created = await newWallet(
              `words ${mnemonicLength}`,
              [ethereum(0), solana(0), cosmos],
              mnemonicLength && { mnemonicLength },
            );
            const text = await words(created.walletId);
            assert.equal(text.split(' ').length, mnemonicLength ?? 12);
            const expected = expectedAddresses(text);
            assert.deepEqual(created.addresses, [
              expected.ADDRESS_FORMAT_ETHEREUM,
              expected.ADDRESS_FORMAT_SOLANA,
              expected.ADDRESS_FORMAT_COSMOS,
            ]);
            await run('deleteWallets', { walletIds: [created.walletId] });
          }
        });

        it('a private key in hexadecimal, in and out', async () => {
          for (const [name, text] of [
            ['hex', rawKey],
            ['0x', `0x${rawKey}`],
          ]) {
            const imported = await crypto(
              'importPrivateKey',
              asKey(name, await sealKey(text, 'HEXADECIMAL'), 'SECP256K1', ['ETHEREUM', 'COSMOS']),
            );
            const expected = new ethers.SigningKey(`0x${rawKey}`);
            assert.deepEqual(imported.addresses, [
              { format: 'ADDRESS_FORMAT_ETHEREUM', address: ethers.computeAddress(expected) },
              { format: 'ADDRESS_FORMAT_COSMOS', address: cosmosAddress(ethers.getBytes(expected.compressedPublicKey)) },
            ]);
            const { privateKeyId } = imported;
            const stored = await getPrivateKey(privateKeyId);
            assert.equal(`0x${stored.publicKey}`, expected.publicKey);
            assert.deepEqual([stored.imported, stored.exported], [true, false]);
            assert.equal(await open('exportPrivateKey', { privateKeyId }), rawKey);
            assert.equal((await getPrivateKey(privateKeyId)).exported, true);
            await run('deletePrivateKeys', { privateKeyIds: [privateKeyId] });
          }
        });

        it('a private key of Solana, in and out', async () => {
          const { privateKeyId, addresses } = await crypto(
            'importPrivateKey',
            asKey('solana', await sealKey(rawKeySolana, 'SOLANA'), 'ED25519', ['SOLANA']),
          );
          const keypair = Keypair.fromSeed(Buffer.from(rawKey, 'hex'));
          assert.deepEqual(addresses, [{ format: 'ADDRESS_FORMAT_SOLANA', address: keypair.publicKey.toBase58() }]);
          assert.equal(await open('exportPrivateKey', { privateKeyId }, { keyFormat: 'SOLANA' }), rawKeySolana);
          assert.equal(await open('exportPrivateKey', { privateKeyId }, { keyFormat: 'HEXADECIMAL' }), rawKey);
          await run('deletePrivateKeys', { privateKeyIds: [privateKeyId] });
        });

        it('a target is valid for one import', async () => {
          const sealed = await sealWallet(phrase);
          const { walletId } = await crypto('importWallet', asWallet('once', sealed));
          await refuses(400, 'importWallet', asWallet('twice', sealed));
          const sealedKey = await sealKey(rawKey, 'HEXADECIMAL');
          const { privateKeyId } = await crypto('importPrivateKey', asKey('once', sealedKey, 'SECP256K1', []));
          await refuses(400, 'importPrivateKey', asKey('twice', sealedKey, 'SECP256K1', []));
          await run('deleteWallets', { walletIds: [walletId], deleteWithoutExport: true });
          await run('deletePrivateKeys', { privateKeyIds: [privateKeyId], deleteWithoutExport: true });
        });

        it('another target, another user or an altered bundle is refused', async () => {
          // Sealed to a target that a newer one replaced.
          const stale = await sealWallet(phrase);
          const sealed = await sealWallet(phrase);
          await refuses(400, 'importWallet', asWallet('refused', stale));
          // Sealed to the target of the other kind.
          await refuses(400, 'importWallet', asWallet('refused', await sealKey(rawKey, 'HEXADECIMAL')));
          // For another user: by the client, by the server, at either step.
          const importBundle = await initImport('initImportPrivateKey');
          await assert.rejects(
            encryptPrivateKeyToBundle({ privateKey: rawKey, keyFormat: 'HEXADECIMAL', importBundle, ...own(), userId: adaId }),
            /user id does not match/,
          );
          await refuses(403, 'initImportWallet', { userId: adaId });
          await refuses(403, 'importWallet', { ...asWallet('refused', sealed), userId: adaId });
          await refuses(403, 'importWallet', asWallet('refused', sealed), /./, ada);
          await refuses(403, 'importWallet', { ...asWallet('refused', sealed), userId: adaId }, /./, ada);
          // Altered.
          const { encappedPublic, ciphertext } = JSON.parse(sealed);
          const last = ciphertext.at(-1) === '0' ? '1' : '0';
          await refuses(
            400,
            'importWallet',
            asWallet('refused', JSON.stringify({ encappedPublic, ciphertext: ciphertext.slice(0, -1) + last })),
          );
          await refuses(
            400,
            'importWallet',
            asWallet('refused', JSON.stringify({ encappedPublic: generateP256KeyPair().publicKeyUncompressed, ciphertext })),
          );
          await refuses(400, 'importWallet', asWallet('refused', '{}'));
          // None of this has used the target up.
          const { walletId } = await crypto('importWallet', asWallet('accepted', sealed));
          await run('deleteWallets', { walletIds: [walletId], deleteWithoutExport: true });
          // Not a phrase.
          await refuses(
            400,
            'importWallet',
            asWallet('refused', await sealWallet(phrase.replace('about', 'abandon'))),
            /mnemonic/,
          );
        });

        it('clients that trust another signer refuse the bundles', async () => {
          const { dangerouslyOverrideSignerPublicKey, ...theirs } = own();
          assert.match(dangerouslyOverrideSignerPublicKey, /^04/);
          const importBundle = await initImport('initImportWallet');
          await assert.rejects(encryptWalletToBundle({ mnemonic: phrase, importBundle, ...theirs }));
          await assert.rejects(
            encryptWalletToBundle({ mnemonic: phrase, importBundle, ...own(), organizationId: adaId }),
            /organization id/,
          );
        });

        it('what is not there, or not a key, cannot be exported', async () => {
          const { publicKeyUncompressed: targetPublicKey } = generateP256KeyPair();
          const { walletId } = await newWallet('kept in', [ethereum(0)]);
          await refuses(404, 'exportWallet', { walletId: dev.userId, targetPublicKey });
          await refuses(404, 'exportPrivateKey', { privateKeyId: walletId, targetPublicKey });
          await refuses(404, 'exportWalletAccount', { address: payee, targetPublicKey });
          await refuses(400, 'exportWallet', { walletId, targetPublicKey: `04${'11'.repeat(64)}` });
          await refuses(403, 'exportWallet', { walletId, targetPublicKey }, /./, ada);
          const { wallet } = await query('getWallet', { walletId });
          assert.equal(wallet.exported, false, 'a refused export is none');
          await run('deleteWallets', { walletIds: [walletId], deleteWithoutExport: true });
        });
      });

      describe('signing', () => {
        let wallet;
        let ethKey;
        let solKey;
        let ed25519;
        // Every Ethereum key, by what a caller signs with.
        const ethereumKeys = () => [
          { kind: 'wallet account', signWith: wallet.addresses[0], address: wallet.addresses[0] },
          { kind: 'private key id', signWith: ethKey.privateKeyId, address: ethKey.addresses[0].address },
          { kind: 'private key address', signWith: ethKey.addresses[0].address, address: ethKey.addresses[0].address },
        ];
        const forEthereum = async (check) => {
          for (const key of ethereumKeys()) {
            try {
              await check(key);
            } catch (error) {
              error.message = `${key.kind}: ${error.message}`;
              throw error;
            }
          }
        };

        before(async () => {
          const uncompressed = account('SECP256K1', 'UNCOMPRESSED', "m/44'/118'/1'/0/0");
          wallet = await newWallet('signing', [ethereum(0), solana(0), cosmos, uncompressed]);
          ethKey = await newPrivateKey('ethereum', 'SECP256K1', ['ETHEREUM']);
          solKey = await newPrivateKey('solana', 'ED25519', ['SOLANA']);
          ed25519 = [wallet.addresses[1], solKey.addresses[0].address];
        });

        // A signer, whose calls are counted as its own.
        const signer = (name, test) => it(name, () => through(name, test));

        signer('@turnkey/ethers', () =>
          forEthereum(async ({ signWith, address }) => {
            const signer = new EthersSigner({ client: root.client, organizationId: dev.organizationId, signWith });
            assert.equal(await signer.getAddress(), address);
            for (const message of ['hello', '', 'grüß\n', randomBytes(100)]) {
              assert.equal(ethers.verifyMessage(message, await signer.signMessage(message)), address);
            }
            const { domain, types, message } = typedData;
            assert.equal(
              ethers.verifyTypedData(domain, types, message, await signer.signTypedData(domain, types, message)),
              address,
            );

            const common = { to: payee, value: 10n ** 18n, gasLimit: 21000n, nonce: 7, chainId: 11155111n, data: '0x1234' };
            const fees = { maxFeePerGas: 2000000000n, maxPriorityFeePerGas: 1000000000n };
            for (const tx of [
              { ...common, type: 0, gasPrice: 2000000000n },
              { ...common, type: 0, gasPrice: 2000000000n, chainId: 0n }, // before EIP-155
              { ...common, type: 1, gasPrice: 2000000000n, accessList },
              { ...common, type: 2, ...fees, accessList },
              { ...common, type: 2, ...fees, nonce: 0, value: 0n, data: '0x', chainId: 1n, from: address },
              { ...common, type: 2, ...fees, to: null, data: '0x6080604052' }, // creates a contract
            ]) {
              const signed = ethers.Transaction.from(await signer.signTransaction({ ...tx }));
              assert.equal(signed.from, address);
              const { from, ...asked } = tx;
              assert.equal(signed.unsignedSerialized, ethers.Transaction.from(asked).unsignedSerialized);
            }
          }),
        );

        signer('@turnkey/viem', () =>
          forEthereum(async ({ signWith, address }) => {
            const local = await createAccount({ client: root.client, organizationId: dev.organizationId, signWith });
            assert.equal(local.address, address);
            // It signs by itself, so that the address is never called.
            const client = createWalletClient({ account: local, chain: mainnet, transport: httpTransport('http://127.0.0.1:9') });
            for (const message of ['hello', { raw: `0x${randomBytes(40).toString('hex')}` }]) {
              assert.equal(await recoverMessageAddress({ message, signature: await client.signMessage({ message }) }), address);
            }
            const signature = await client.signTypedData(typedData);
            assert.equal(await recoverTypedDataAddress({ ...typedData, signature }), address);

            const authorization = await local.signAuthorization({ contractAddress: payee, chainId: 1, nonce: 3 });
            assert.equal(await recoverAuthorizationAddress({ authorization }), address);
            const anywhere = await local.signAuthorization({ contractAddress: payee, chainId: 0, nonce: 0 });
            assert.equal(await recoverAuthorizationAddress({ authorization: anywhere }), address);

            const common = { to: payee, value: 10n ** 18n, gas: 21000n, nonce: 7, chainId: 1, data: '0x1234' };
            const fees = { maxFeePerGas: 2000000000n, maxPriorityFeePerGas: 1000000000n };
            for (const tx of [
              { ...common, type: 'legacy', gasPrice: 2000000000n },
              { ...common, type: 'eip2930', gasPrice: 2000000000n, accessList },
              { ...common, type: 'eip1559', ...fees, accessList },
              { ...common, type: 'eip4844', ...fees, maxFeePerBlobGas: 5n, blobVersionedHashes: [`0x01${'22'.repeat(31)}`] },
              { ...common, type: 'eip7702', ...fees, authorizationList: [authorization, anywhere] },
            ]) {
              const serializedTransaction = await local.signTransaction(tx);
              assert.equal(await recoverTransactionAddress({ serializedTransaction }), address, tx.type);
              const parsed = parseTransaction(serializedTransaction);
              for (const name of ['type', 'value', 'nonce', 'chainId', 'data'])
                assert.equal(parsed[name], tx[name], `${tx.type} ${name}`);
            }
          }),
        );

        signer('@turnkey/solana', async () => {
          const signer = new SolanaSigner({ client: root.client, organizationId: dev.organizationId });
          const recentBlockhash = Keypair.generate().publicKey.toBase58(); // any 32 bytes
          const transfer = (from, lamports) =>
            SystemProgram.transfer({ fromPubkey: from, toPubkey: Keypair.generate().publicKey, lamports });
          const legacy = (feePayer, ...instructions) => new SolanaTransaction({ feePayer, recentBlockhash }).add(...instructions);
          const versioned = (payerKey, ...instructions) =>
            new VersionedTransaction(new TransactionMessage({ payerKey, recentBlockhash, instructions }).compileToV0Message());
          const slot = (tx, key) => tx.message.staticAccountKeys.findIndex((k) => k.equals(key));
          const signedBy = (tx, address) => {
            const signature = tx.signatures[slot(tx, new PublicKey(address))];
            assert.ok(verifyEd25519(address, tx.message.serialize(), signature));
          };

          for (const address of ed25519) {
            const key = new PublicKey(address);
            const message = randomBytes(50);
            assert.ok(verifyEd25519(address, message, await signer.signMessage(message, address)));

            const first = legacy(key, transfer(key, 1));
            await signer.addSignature(first, address);
            assert.ok(first.verifySignatures());
            const plain = legacy(key, transfer(key, 2));
            const second = await signer.signTransaction(plain, address);
            assert.ok(second.verifySignatures());
            assert.deepEqual(second.serializeMessage(), plain.serializeMessage());

            const third = versioned(key, transfer(key, 3));
            await signer.addSignature(third, address);
            signedBy(third, address);
            const fourth = await signer.signTransaction(versioned(key, transfer(key, 4)), address);
            signedBy(fourth, address);

            // With a second signer, who pays and has signed already.
            const payer = Keypair.generate();
            const shared = versioned(payer.publicKey, transfer(key, 5));
            shared.sign([payer]);
            const both = await signer.signTransaction(shared, address);
            signedBy(both, address);
            signedBy(both, payer.publicKey);
            const sharedLegacy = legacy(payer.publicKey, transfer(key, 6));
            sharedLegacy.partialSign(payer);
            assert.ok((await signer.signTransaction(sharedLegacy, address)).verifySignatures());

            const all = await signer.signAllTransactions(
              [legacy(key, transfer(key, 7)), versioned(key, transfer(key, 8)), legacy(key, transfer(key, 9))],
              address,
            );
            assert.ok(all[0].verifySignatures());
            signedBy(all[1], address);
            assert.ok(all[2].verifySignatures());
          }
        });

        // This client cannot read a signature of which a half begins with a zero
        // byte, as one in 85 does: it wants the zeros cut off, and every other
        // client wants them there. So it may try again with something else.
        const signDocument = async (direct, address) => {
          for (let tries = 5; ; tries--) {
            const doc = makeSignDoc(randomBytes(80), randomBytes(40), 'cosmoshub-4', 5);
            try {
              const { signature } = await direct.signDirect(address, doc);
              return { doc, signature };
            } catch (error) {
              if (tries === 0 || !/must be encoded as unpadded big endian/.test(error.message)) throw error;
            }
          }
        };

        signer('@turnkey/cosmjs', async () => {
          const config = { client: root.client, organizationId: dev.organizationId };
          const { publicKey } = await getPrivateKey(ethKey.privateKeyId);
          for (const signWith of [ethKey.privateKeyId, publicKey, wallet.addresses[3]]) {
            const direct = await TurnkeyDirectWallet.init({ config: { ...config, signWith } });
            const [{ address, pubkey }] = await direct.getAccounts();
            const { doc, signature } = await signDocument(direct, address);
            // With @turnkey/http, this version of the client has its digest
            // hashed once more, and the server does what it is told.
            const digest = sha256(makeSignBytes(doc));
            const signed = root.envelope ? sha256(digest) : digest;
            const parsed = Secp256k1Signature.fromFixedLength(fromBase64(signature.signature));
            assert.ok(await Secp256k1.verifySignature(parsed, signed, pubkey));
          }
          // The account that was made as one of Cosmos has the same key as its address says.
          const { account: stored } = await query('getWalletAccount', {
            walletId: wallet.walletId,
            address: wallet.addresses[2],
          });
          const digest = sha256(randomBytes(10));
          const payload = Buffer.from(digest).toString('hex');
          const { r, s } = await run('signRawPayload', {
            signWith: stored.address,
            payload,
            encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
            hashFunction: 'HASH_FUNCTION_NO_OP',
          });
          const parsed = Secp256k1Signature.fromFixedLength(Buffer.from(r + s, 'hex'));
          assert.ok(await Secp256k1.verifySignature(parsed, digest, Buffer.from(stored.publicKey, 'hex')));
        });

        const raw = (signWith, payload, hashFunction, encoding = 'HEXADECIMAL') => ({
          signWith,
          payload,
          encoding: `PAYLOAD_ENCODING_${encoding}`,
          hashFunction: `HASH_FUNCTION_${hashFunction}`,
        });
        const recover = (digest, { r, s, v }) =>
          ethers.recoverAddress(digest, { r: `0x${r}`, s: `0x${s}`, v: 27 + parseInt(v, 16) });

        it('sign_raw_payload: encodings, hash functions and names of the key', () =>
          forEthereum(async ({ signWith, address }) => {
            const text = 'naïve';
            const bytes = ethers.toUtf8Bytes(text);
            const hex = ethers.hexlify(bytes);
            for (const [parameters, digest] of [
              [raw(signWith, text, 'KECCAK256', 'TEXT_UTF8'), ethers.keccak256(bytes)],
              [raw(signWith, text, 'SHA256', 'TEXT_UTF8'), ethers.sha256(bytes)],
              [raw(signWith, hex, 'KECCAK256'), ethers.keccak256(bytes)],
              [raw(signWith, hex.slice(2).toUpperCase(), 'SHA256'), ethers.sha256(bytes)],
              [raw(signWith, ethers.id('x'), 'NO_OP'), ethers.id('x')],
              [raw(signWith.toLowerCase(), ethers.id('x'), 'NO_OP'), ethers.id('x')],
            ]) {
              assert.equal(recover(digest, shape.signature(await run('signRawPayload', parameters))), address);
            }
          }));

        it('sign_raw_payloads answers in order', async () => {
          const digests = Array.from({ length: 12 }, (_, i) => ethers.id(`payload ${i}`));
          await forEthereum(async ({ signWith, address }) => {
            const { payload, ...rest } = raw(signWith, '', 'NO_OP');
            const { signatures } = await run('signRawPayloads', { ...rest, payloads: digests });
            assert.equal(signatures.length, digests.length);
            signatures.forEach((s, i) => assert.equal(recover(digests[i], shape.signature(s)), address));
          });
          for (const address of ed25519) {
            const { payload, ...rest } = raw(address, '', 'NOT_APPLICABLE');
            const { signatures } = await run('signRawPayloads', { ...rest, payloads: digests });
            signatures.forEach((s, i) => {
              assert.equal(shape.signature(s).v, '00');
              assert.ok(verifyEd25519(address, ethers.getBytes(digests[i]), Buffer.from(s.r + s.s, 'hex')));
            });
          }
        });

        it('refusals', async () => {
          const [eth, sol] = wallet.addresses;
          const digest = ethers.id('x');
          // Callers without the permission.
          await refuses(403, 'createWallet', { walletName: `${label} hers`, accounts: [] }, /sufficient permissions/, ada);
          await refuses(
            403,
            'createPrivateKeys',
            { privateKeys: [{ privateKeyName: `${label} hers`, curve: 'CURVE_P256', privateKeyTags: [], addressFormats: [] }] },
            /./,
            ada,
          );
          await refuses(403, 'signRawPayload', raw(eth, digest, 'NO_OP'), /sufficient permissions/, ada);
          const signer = new EthersSigner({ client: ada.client, organizationId: dev.organizationId, signWith: eth });
          await assert.rejects(signer.signMessage('hello'), /sufficient permissions/);

          // Keys that do not exist.
          const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057';
          for (const signWith of [payee, unknownId, Keypair.generate().publicKey.toBase58(), `02${'11'.repeat(32)}`]) {
            await refuses(404, 'signRawPayload', raw(signWith, digest, 'NO_OP'));
          }

          // Payloads that cannot be signed this way.
          for (const hash of ['NO_OP', 'SHA256', 'KECCAK256'])
            await refuses(400, 'signRawPayload', raw(sol, digest, hash), /hash function/);
          await refuses(400, 'signRawPayload', raw(eth, digest, 'NOT_APPLICABLE'), /hash function/);
          await refuses(400, 'signRawPayload', raw(eth, digest.slice(0, -2), 'NO_OP'), /31/);
          await refuses(400, 'signRawPayload', raw(eth, 'hello', 'KECCAK256'), /hex/);
          await refuses(400, 'signRawPayload', raw(sol, JSON.stringify({}), 'NOT_APPLICABLE', 'EIP712'));
          await refuses(400, 'signRawPayload', raw(eth, JSON.stringify({}), 'NO_OP', 'EIP712'));
          const { payload, ...rest } = raw(eth, '', 'NO_OP');
          await refuses(400, 'signRawPayloads', { ...rest, payloads: [digest, digest.slice(0, -2)] }, /payloads\.1/);

          const transaction = (signWith, unsignedTransaction, type) => ({
            signWith,
            unsignedTransaction,
            type: `TRANSACTION_TYPE_${type}`,
          });
          const unsigned = ethers.Transaction.from({
            type: 2,
            to: payee,
            nonce: 0,
            gasLimit: 21000n,
            chainId: 1n,
            maxFeePerGas: 2n,
            maxPriorityFeePerGas: 1n,
          });
          const signed = await new ethers.Wallet(`0x${rawKey}`).signTransaction(unsigned);
          await refuses(400, 'signTransaction', transaction(eth, signed, 'ETHEREUM'), /failed to parse transaction/);
          await refuses(400, 'signTransaction', transaction(sol, unsigned.unsignedSerialized, 'ETHEREUM'));
          await refuses(400, 'signTransaction', transaction(eth, '0xzz', 'ETHEREUM'), /hex/);
          await refuses(404, 'signTransaction', transaction(payee, unsigned.unsignedSerialized, 'ETHEREUM'));
          await refuses(403, 'signTransaction', transaction(eth, unsigned.unsignedSerialized, 'ETHEREUM'), /./, ada);

          // Solana: we receive, but do not sign.
          const stranger = Keypair.generate();
          const tx = new SolanaTransaction({
            feePayer: stranger.publicKey,
            recentBlockhash: Keypair.generate().publicKey.toBase58(),
          }).add(SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey: new PublicKey(sol), lamports: 1 }));
          const wire = tx.serialize({ requireAllSignatures: false }).toString('hex');
          await refuses(400, 'signTransaction', transaction(sol, wire, 'SOLANA'), /signers/);
          await refuses(400, 'signTransaction', transaction(sol, wire.slice(0, -2), 'SOLANA'), /failed to parse transaction/);

          // And no refused request created anything.
          const { wallets } = await query('getWallets');
          assert.ok(!wallets.some((w) => w.walletName === `${label} hers`));
        });
      });
    });
  }

  it('the first versions, for old clients', async () => {
    const { client, envelope } = flavours[0].connect(dev, rootKey);
    const as = (method, type, parameters) => client[method]({ ...envelope(method, parameters), type: `ACTIVITY_TYPE_${type}` });
    const privateKeys = [
      { privateKeyName: 'old', curve: 'CURVE_SECP256K1', privateKeyTags: [], addressFormats: ['ADDRESS_FORMAT_ETHEREUM'] },
    ];
    const created = shape.activity((await as('createPrivateKeys', 'CREATE_PRIVATE_KEYS', { privateKeys })).activity);
    const [privateKeyId] = created.result.createPrivateKeysResult.privateKeyIds;
    const { privateKey } = await client.getPrivateKey({ organizationId: dev.organizationId, privateKeyId });
    const [{ address }] = privateKey.addresses;

    const payload = {
      privateKeyId,
      payload: ethers.id('x'),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    };
    const signed = shape.activity((await as('signRawPayload', 'SIGN_RAW_PAYLOAD', payload)).activity);
    const { r, s, v } = shape.signature(signed.result.signRawPayloadResult);
    assert.equal(ethers.recoverAddress(ethers.id('x'), { r: `0x${r}`, s: `0x${s}`, v: 27 + parseInt(v, 16) }), address);

    const { unsignedSerialized: unsignedTransaction } = ethers.Transaction.from({ type: 2, to: payee, chainId: 1n });
    const transaction = { privateKeyId, unsignedTransaction, type: 'TRANSACTION_TYPE_ETHEREUM' };
    const { activity } = await as('signTransaction', 'SIGN_TRANSACTION', transaction);
    assert.equal(ethers.Transaction.from(`0x${activity.result.signTransactionResult.signedTransaction}`).from, address);
  });

  it('keys are there after a restart, and deleted ones are not', async () => {
    let root = flavours[0].connect(dev, rootKey);
    const run = async (method, parameters) => completed(await root.submit(method, parameters), method, dev);
    const kept = await run('createWallet', { walletName: 'kept', accounts: [ethereum(0), solana(0)] });
    const gone = await run('createWallet', { walletName: 'gone', accounts: [ethereum(0)] });
    await run('deleteWallets', { walletIds: [gone.walletId], deleteWithoutExport: true });
    const { importBundle } = await run('initImportWallet', { userId: dev.userId });
    const read = async () => [
      await root.query('getWallets'),
      await root.query('getWalletAccounts', { paginationOptions: { limit: '100' } }),
      await root.query('getPrivateKeys'),
    ];
    const before = await read();

    await server.stop();
    server = await startServer(place);
    dev = server.dev;
    root = flavours[0].connect(dev, rootKey);
    assert.deepEqual(await read(), before);
    const [eth, sol] = kept.addresses;
    const signerOf = (signWith) => new EthersSigner({ client: root.client, organizationId: dev.organizationId, signWith });
    assert.equal(ethers.verifyMessage('hello', await signerOf(eth).signMessage('hello')), eth);
    const solanaSigner = new SolanaSigner({ client: root.client, organizationId: dev.organizationId });
    const message = randomBytes(20);
    assert.ok(verifyEd25519(sol, message, await solanaSigner.signMessage(message, sol)));
    await assert.rejects(signerOf(gone.addresses[0]).signMessage('hello'), /no wallet account/);

    // An import that was begun goes on, and further accounts come from the same seed.
    const known = { organizationId: dev.organizationId, dangerouslyOverrideSignerPublicKey: dev.signerPublicKey };
    const encryptedBundle = await encryptWalletToBundle({ mnemonic: phrase, importBundle, userId: dev.userId, ...known });
    const imported = await run('importWallet', {
      userId: dev.userId,
      walletName: 'imported',
      encryptedBundle,
      accounts: [ethereum(0)],
    });
    assert.deepEqual(imported.addresses, [ethersNode(phrase, ethereum(0).path).address]);
    const further = await run('createWalletAccounts', { walletId: kept.walletId, accounts: [ethereum(1)] });
    const target = generateP256KeyPair();
    const { exportBundle } = await run('exportWallet', {
      walletId: kept.walletId,
      targetPublicKey: target.publicKeyUncompressed,
    });
    const words = await decryptExportBundle({ exportBundle, embeddedKey: target.privateKey, returnMnemonic: true, ...known });
    assert.equal(ethersNode(words, ethereum(0).path).address, eth);
    assert.equal(ethersNode(words, ethereum(1).path).address, further.addresses[0]);
  });
});
