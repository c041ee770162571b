// The frames with @turnkey/iframe-stamper in Chromium: every event that it has, and
// what the formats are worth to libraries that are independent of Latchkey.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { verify } from 'node:crypto';
import { before, describe, it } from 'node:test';

import { Keypair, PublicKey, SystemProgram, Transaction, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { decryptExportBundle, encryptWalletToBundle, generateP256KeyPair } from '@turnkey/crypto';
import * as ethers from 'ethers';

import { usePage } from '../lib/chromium.mjs';
import { flavours } from '../lib/clients.mjs';
import { callFrame, closeFrame, frameAddresses, openFrame } from '../lib/frames.mjs';
import { binary, storeName, useServer } from '../lib/server.mjs';
import { connectUser } from '../lib/users.mjs';

const [http] = flavours;
const phrase = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
// One private key as each format writes it; those of Bitcoin and Sui were computed
// apart from this project's code.
const raw = '67ee05fc3bdf4161bc70701c221d8d77180294cefcfcea64ba83c4d4c732fcb9';
const forms = {
  HEXADECIMAL: `0x${raw}`,
  SOLANA: '35X27PFdHPn5k9cRr7ZxhrAc1Qa6FvjyY8zkSyAnpvJG1RnCif8VscSBqHmhhWSBpncRMfyvMwuEvGAhqD7CWUP5',
  BITCOIN_MAINNET_WIF: 'KzhjgpJGn9gbaShwmwTeE9WGvG6hMYJHqyuQpH7Vy5tqS3sPY5Dx',
  BITCOIN_TESTNET_WIF: 'cR4j9jJ8DDNrjtBDAMGmbU1LYVQ71zPyv23svha1UCYqgnsm3Zwi',
  SUI_BECH32: 'suiprivkey1qpn7up0u8005zcduwpcpcgsa34m3sq55em70e6nyh2puf4x8xt7tjujcj2r',
};
const ethereum = { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0", addressFormat: 'ADDRESS_FORMAT_ETHEREUM' };

describe(`frames on ${storeName}`, () => {
  const held = useServer();
  const page = usePage();
  let frames;
  let root;
  let organizationId;
  let next = 0;

  const call = (name, method, ...args) => callFrame(page, name, method, ...args);
  const shown = (name) => page.inFrame(`#${name}`, () => document.querySelector('.secret').textContent);
  const type = (name, text, passphrase = '') =>
    page.inFrame(`#${name}`, (...values) => document.querySelectorAll('textarea').forEach((area, i) => (area.value = values[i])), text, passphrase);
  const refused = (promise, why) => assert.rejects(promise, why);
  const importKey = async (name, curve, addressFormat) => {
    const { importBundle } = await root.run('initImportPrivateKey', { userId: root.userId });
    assert.equal(await call(name, 'injectImportBundle', importBundle, organizationId, root.userId), true);
    return (format) =>
      call(name, 'extractKeyEncryptedBundle', format).then((encryptedBundle) =>
        root.run('importPrivateKey', {
          userId: root.userId,
          privateKeyName: `imported ${++next}`,
          encryptedBundle,
          curve,
          addressFormats: [addressFormat],
        }),
      );
  };
  const privateKey = async (curve, format) => {
    const { privateKeys } = await root.run('createPrivateKeys', {
      privateKeys: [{ privateKeyName: `made ${++next}`, curve, addressFormats: format ? [format] : [], privateKeyTags: [] }],
    });
    return privateKeys[0];
  };
  const exported = async (privateKeyId, targetPublicKey) => (await root.run('exportPrivateKey', { privateKeyId, targetPublicKey })).exportBundle;

  before(() => {
    frames = frameAddresses(held);
    organizationId = held.dev.organizationId;
    root = connectUser(http, held.dev, held.rootKey, held.dev.userId);
    page.by = '@turnkey/iframe-stamper';
    execFileSync(binary, ['request', '--data', held.place.data, 'update_auth_proxy_config', JSON.stringify({ allowedOrigins: [page.origin] })]);
  });

  it('auth: a credential that stamps, and a key that is kept', async () => {
    const targetPublicKey = await openFrame(page, 'auth', frames.auth);
    assert.match(targetPublicKey, /^04[0-9a-f]{128}$/);
    assert.equal(await call('auth', 'getEmbeddedPublicKey'), targetPublicKey);
    await refused(call('auth', 'stamp', '{}'), /there is no credential to stamp with/);

    const { credentialBundle } = await root.run('createReadWriteSession', { targetPublicKey });
    assert.equal(await call('auth', 'injectCredentialBundle', credentialBundle), true);
    const whoami = () =>
      page.run(
        ({ baseUrl, organizationId: id }) => new TurnkeyClient({ baseUrl }, window.stampers.auth).getWhoami({ organizationId: id }),
        held.dev,
      );
    assert.equal((await whoami()).userId, root.userId);

    // The page is loaded again: its frame has the key, and takes the bundle again.
    await closeFrame(page, 'auth');
    assert.equal(await openFrame(page, 'auth', frames.auth), targetPublicKey);
    await refused(call('auth', 'stamp', '{}'), /there is no credential to stamp with/);
    assert.equal(await call('auth', 'injectCredentialBundle', credentialBundle), true);
    assert.equal((await whoami()).userId, root.userId);

    assert.equal(await call('auth', 'clearEmbeddedKey'), null);
    assert.equal(await call('auth', 'getEmbeddedPublicKey'), '');
    await refused(call('auth', 'stamp', '{}'), /there is no credential/);
    await refused(call('auth', 'injectCredentialBundle', credentialBundle), /has no key any more/);
    const second = await call('auth', 'initEmbeddedKey');
    assert.notEqual(second, targetPublicKey);
    assert.equal(await call('auth', 'initEmbeddedKey'), second);
    await refused(call('auth', 'injectCredentialBundle', credentialBundle), /was not made for the key of this frame/);
    await refused(call('auth', 'injectCredentialBundle', `${credentialBundle}1`), /this is not a credential bundle/);
    for (const [method, args] of [
      ['signMessage', [{ message: 'a', type: 'ETHEREUM' }]],
      ['injectWalletExportBundle', ['{}', organizationId]],
      ['applySettings', [{}]],
    ]) {
      await refused(call('auth', method, ...args), /the auth frame does not serve/);
    }
    await call('auth', 'clearEmbeddedKey');
    await closeFrame(page, 'auth');

    // As long as the page wants.
    const short = await openFrame(page, 'auth', frames.auth, 1);
    await closeFrame(page, 'auth');
    assert.notEqual(await openFrame(page, 'auth', frames.auth), short);
    await closeFrame(page, 'auth');
  });

  it('import and export: keys in every format', async () => {
    await openFrame(page, 'import', frames.import);
    for (const [format, text] of Object.entries(forms)) {
      const ed25519 = format === 'SOLANA' || format === 'SUI_BECH32';
      const finish = await importKey('import', ed25519 ? 'CURVE_ED25519' : 'CURVE_SECP256K1', ed25519 ? 'ADDRESS_FORMAT_SOLANA' : 'ADDRESS_FORMAT_ETHEREUM');
      await type('import', 'nothing of the kind');
      await refused(finish(format), /what was entered is not a private key/);
      await type('import', ` ${text}\n`);
      const { privateKeyId } = await finish(format);
      await refused(finish(format), /there is no bundle to seal this for, or it was used/);

      const key = await openFrame(page, 'export', frames.export);
      const bundle = await exported(privateKeyId, key);
      await refused(call('export', 'injectKeyExportBundle', bundle, organizationId, 'ROT13'), /is no format of keys/);
      assert.equal(await call('export', 'injectKeyExportBundle', bundle, organizationId, format), true);
      assert.equal(await shown('export'), text);
      assert.equal(await call('export', 'getEmbeddedPublicKey'), '');
      await refused(call('export', 'injectKeyExportBundle', bundle, organizationId, format), /has no key any more/);
      await closeFrame(page, 'export');
    }
    await refused(call('import', 'stamp', '{}'), /the import frame does not serve STAMP_REQUEST/);
    await closeFrame(page, 'import');
  });

  it('import and export: the words of a wallet', async () => {
    await openFrame(page, 'import', frames.import);
    const styles = { fontSize: '16px', backgroundColor: 'rgb(1, 2, 3)', color: '#abcdef' };
    assert.equal(await call('import', 'applySettings', { styles, enablePassphrase: true }), true);
    const { importBundle } = await root.run('initImportWallet', { userId: root.userId });
    await call('import', 'injectImportBundle', importBundle, organizationId, root.userId);
    await refused(call('import', 'extractWalletEncryptedBundle'), /no seed phrase was entered/);
    await type('import', phrase.replaceAll(' ', ' \n '), 'correct horse');
    const encryptedBundle = await call('import', 'extractWalletEncryptedBundle');
    const { walletId, addresses } = await root.run('importWallet', { userId: root.userId, walletName: 'words', encryptedBundle, accounts: [ethereum] });
    assert.equal(addresses[0], ethers.HDNodeWallet.fromPhrase(phrase, 'correct horse').address);
    await closeFrame(page, 'import');

    const targetPublicKey = await openFrame(page, 'export', frames.export);
    assert.equal(await call('export', 'applySettings', { styles }), true);
    const { exportBundle } = await root.run('exportWallet', { walletId, targetPublicKey });
    assert.equal(await call('export', 'injectWalletExportBundle', exportBundle, organizationId), true);
    assert.equal(await shown('export'), `${phrase}\n\nPassphrase: correct horse`);
    assert.deepEqual(
      await page.inFrame('#export', () => {
        const { fontSize, color } = getComputedStyle(document.querySelector('.secret'));
        return [fontSize, color, getComputedStyle(document.body).backgroundColor];
      }),
      ['16px', 'rgb(171, 205, 239)', 'rgb(1, 2, 3)'],
    );
    for (const bad of [{ backgroundImage: 'none' }, { color: 'url(http://localhost/)' }, { fontFamily: 'a;b' }, { opacity: '0' }]) {
      await refused(call('export', 'applySettings', { styles: bad }), /style/);
    }
    await closeFrame(page, 'export');
  });

  it('export and sign: Ethereum', async () => {
    const frame = await openFrame(page, 'sign', frames.exportAndSign);
    const { privateKeyId, addresses } = await privateKey('CURVE_SECP256K1', 'ADDRESS_FORMAT_ETHEREUM');
    const [{ address }] = addresses;
    const message = { message: 'hëllo', type: 'ETHEREUM' };
    await refused(call('sign', 'signMessage', message, address), /there is no key for/);
    await call('sign', 'injectKeyExportBundle', await exported(privateKeyId, frame), organizationId, 'HEXADECIMAL', address);
    assert.equal(ethers.verifyMessage(message.message, await call('sign', 'signMessage', message, address)), address);
    await refused(call('sign', 'signMessage', message), /a request without an address/);
    await refused(call('sign', 'signMessage', { ...message, type: 'DOGE' }, address), /the type must be one of/);

    const to = '0x00000000000000000000000000000000000000aa';
    const data = `0x${'ab'.repeat(300)}`;
    for (const unsigned of [
      { type: 0, to, value: 5n, gasLimit: 21000n, gasPrice: 1n, nonce: 0 },
      { type: 0, to, value: 5n, gasLimit: 21000n, gasPrice: 1n, nonce: 300, chainId: 1n, data },
      { type: 0, to, gasLimit: 21000n, gasPrice: 1n, chainId: 11155111n },
      { type: 1, to, gasLimit: 21000n, gasPrice: 1n, chainId: 1n, accessList: [[to, [ethers.ZeroHash]]] },
      { type: 2, to, value: 1n, gasLimit: 21000n, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n, chainId: 137n, data },
    ]) {
      const transaction = ethers.Transaction.from(unsigned).unsignedSerialized;
      const signed = ethers.Transaction.from(await call('sign', 'signTransaction', { transaction, type: 'ETHEREUM' }, address));
      assert.equal(signed.from, address);
      assert.equal(signed.unsignedSerialized, transaction);
      await refused(call('sign', 'signTransaction', { transaction: signed.serialized, type: 'ETHEREUM' }, address), /signed already/);
    }
    await refused(call('sign', 'signTransaction', { transaction: '0x02', type: 'ETHEREUM' }, address), /not a serialized Ethereum/);

    assert.equal(await call('sign', 'clearEmbeddedPrivateKey'), true);
    await refused(call('sign', 'signMessage', message, address), /there is no key for/);
    await closeFrame(page, 'sign');
  });

  it('export and sign: Solana', async () => {
    const frame = await openFrame(page, 'sign', frames.exportAndSign);
    const { privateKeyId, addresses } = await privateKey('CURVE_ED25519', 'ADDRESS_FORMAT_SOLANA');
    const own = new PublicKey(addresses[0].address);
    await call('sign', 'injectKeyExportBundle', await exported(privateKeyId, frame), organizationId, 'SOLANA');
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), own.toBytes()]);
    const good = (text, signature) => verify(null, text, { key: spki, format: 'der', type: 'spki' }, signature);
    const signature = await call('sign', 'signMessage', { message: 'hello', type: 'SOLANA' });
    assert.ok(good(Buffer.from('hello'), Buffer.from(signature, 'hex')));

    const payer = Keypair.generate();
    const instructions = [SystemProgram.transfer({ fromPubkey: own, toPubkey: payer.publicKey, lamports: 7 })];
    const message = (payerKey) => new TransactionMessage({ payerKey, recentBlockhash: PublicKey.default.toBase58(), instructions });
    for (const [compiled, signers] of [
      [message(own).compileToV0Message(), []],
      [message(payer.publicKey).compileToV0Message(), [payer]],
      [message(own).compileToLegacyMessage(), []],
    ]) {
      const transaction = new VersionedTransaction(compiled);
      if (signers.length > 0) transaction.sign(signers);
      const text = Buffer.from(transaction.serialize()).toString('hex');
      const signed = VersionedTransaction.deserialize(Buffer.from(await call('sign', 'signTransaction', { transaction: text, type: 'SOLANA' }), 'hex'));
      const at = signed.message.staticAccountKeys.findIndex((key) => key.equals(own));
      assert.ok(good(signed.message.serialize(), signed.signatures[at]));
      assert.equal(signed.signatures.every((s) => s.some((b) => b !== 0)), true);
    }
    const other = new Transaction({ feePayer: payer.publicKey, recentBlockhash: PublicKey.default.toBase58() }).add(
      SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: own, lamports: 7 }),
    );
    const text = other.serialize({ requireAllSignatures: false }).toString('hex');
    await refused(call('sign', 'signTransaction', { transaction: text, type: 'SOLANA' }), /none of the signers/);
    await refused(call('sign', 'signTransaction', { transaction: '01', type: 'SOLANA' }), /not a serialized Solana/);
    await closeFrame(page, 'sign');
  });

  it('a key of the application in the place of the frame’s', async () => {
    const p256 = await privateKey('CURVE_P256');
    const target = (await root.query('getPrivateKey', { privateKeyId: p256.privateKeyId })).privateKey.publicKey;
    const { privateKeyId } = await privateKey('CURVE_SECP256K1', 'ADDRESS_FORMAT_ETHEREUM');
    const pair = generateP256KeyPair();
    const known = await decryptExportBundle({
      exportBundle: await exported(privateKeyId, pair.publicKeyUncompressed),
      embeddedKey: pair.privateKey,
      organizationId,
      returnMnemonic: false,
      keyFormat: 'HEXADECIMAL',
      dangerouslyOverrideSignerPublicKey: held.dev.signerPublicKey,
    });
    const bundle = await exported(privateKeyId, target);
    for (const address of [frames.export, frames.exportAndSign]) {
      const frame = await openFrame(page, 'override', address);
      const inject = () => call('override', 'injectKeyExportBundle', bundle, organizationId, 'HEXADECIMAL');
      await refused(inject(), /was not made for the key of this frame/);
      await refused(call('override', 'setEmbeddedKeyOverride', organizationId, bundle), /was not made for the key/);
      assert.equal(await call('override', 'setEmbeddedKeyOverride', organizationId, await exported(p256.privateKeyId, frame)), true);
      assert.equal(await inject(), true);
      if (address === frames.export) assert.equal(await shown('override'), `0x${known.replace(/^0x/, '')}`);
      assert.equal(await call('override', 'resetToDefaultEmbeddedKey'), true);
      await refused(inject(), /was not made for the key of this frame/);
      assert.equal(await call('override', 'getEmbeddedPublicKey'), frame);
      await closeFrame(page, 'override');
    }
  });

  it('is read by what the page itself could seal', async () => {
    // @turnkey/crypto seals words for the same import, and the frame shows them.
    const { importBundle } = await root.run('initImportWallet', { userId: root.userId });
    const encryptedBundle = await encryptWalletToBundle({
      mnemonic: phrase,
      importBundle,
      userId: root.userId,
      organizationId,
      dangerouslyOverrideSignerPublicKey: held.dev.signerPublicKey,
    });
    const { walletId } = await root.run('importWallet', { userId: root.userId, walletName: 'plain', encryptedBundle, accounts: [ethereum] });
    const targetPublicKey = await openFrame(page, 'plain', frames.export);
    const { exportBundle } = await root.run('exportWallet', { walletId, targetPublicKey });
    await call('plain', 'injectWalletExportBundle', exportBundle, organizationId);
    assert.equal(await shown('plain'), phrase);
    await closeFrame(page, 'plain');
  });
});
