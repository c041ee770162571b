// Keys in and out. They are unencrypted only here, in the program of their
// owner; in transit they are encrypted, to the server or to a key of ours.
import { decryptExportBundle, encryptPrivateKeyToBundle, encryptWalletToBundle, generateP256KeyPair } from '@turnkey/crypto';

import { apiKey, connect, newKey, server } from './latchkey.mjs';

export const ethereumAccount = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

// setUp makes an organization that belongs to one user, and gives the user as
// { userId, organizationId, client }.
export async function setUp(name) {
  const key = newKey();
  const parent = connect(server.organizationId, server.key);
  const { subOrganizationId: organizationId, rootUserIds } = await parent.createSubOrganization({
    subOrganizationName: name,
    rootQuorumThreshold: 1,
    rootUsers: [{ userName: name, apiKeys: [apiKey('laptop', key)], authenticators: [], oauthProviders: [] }],
  });
  return { userId: rootUserIds[0], organizationId, client: connect(organizationId, key) };
}

// What the client checks before it encrypts: that the server signed the bundle,
// for this user of this organization.
const addressee = ({ userId, organizationId }) => ({
  userId,
  organizationId,
  dangerouslyOverrideSignerPublicKey: server.signerPublicKey,
});

// Two steps in: ask for a key to encrypt to, which is valid for one import, and
// send what was encrypted.
export async function sealPhrase(user, mnemonic) {
  const { importBundle } = await user.client.initImportWallet({ userId: user.userId });
  return encryptWalletToBundle({ mnemonic, importBundle, ...addressee(user) });
}

export async function sealKey(user, privateKey, keyFormat) {
  const { importBundle } = await user.client.initImportPrivateKey({ userId: user.userId });
  return encryptPrivateKeyToBundle({ privateKey, keyFormat, importBundle, ...addressee(user) });
}

// Both give the ids and addresses of what came in.
export const importPhrase = (user, walletName, encryptedBundle, accounts = [ethereumAccount]) =>
  user.client.importWallet({ userId: user.userId, walletName, encryptedBundle, accounts });

export const importKey = (user, privateKeyName, encryptedBundle, curve, addressFormats) =>
  user.client.importPrivateKey({ userId: user.userId, privateKeyName, encryptedBundle, curve, addressFormats });

// One step out: name a key to encrypt to, and decrypt what comes. Only this
// program has the private half, and it is used once.
export async function exportPhrase(user, walletId) {
  const target = generateP256KeyPair();
  const { exportBundle } = await user.client.exportWallet({ walletId, targetPublicKey: target.publicKeyUncompressed });
  return open(user, exportBundle, target, { returnMnemonic: true });
}

export async function exportKey(user, privateKeyId, keyFormat) {
  const target = generateP256KeyPair();
  const { exportBundle } = await user.client.exportPrivateKey({ privateKeyId, targetPublicKey: target.publicKeyUncompressed });
  return open(user, exportBundle, target, { keyFormat });
}

function open({ organizationId }, exportBundle, target, how) {
  return decryptExportBundle({
    exportBundle,
    embeddedKey: target.privateKey,
    organizationId,
    dangerouslyOverrideSignerPublicKey: server.signerPublicKey,
    returnMnemonic: false,
    ...how,
  });
}

// The words of the server, without the details.
export function refusal(error) {
  const said = /Turnkey error \d+: (.*?)( \(Details|$)/.exec(error.message);
  if (!said) throw error; // not a refusal: the network, …
  return said[1];
}
