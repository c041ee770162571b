// The user's device: what runs in the application's page or on the phone.
import { ApiKeyStamper, TurnkeyServerClient } from '@turnkey/sdk-server';
import { decryptCredentialBundle, generateP256KeyPair, getPublicKey } from '@turnkey/crypto';
import { stringToHex } from 'viem';

// connect gives a client of the user, whose requests the stamper signs.
export const connect = (apiBaseUrl, organizationId, stamper) =>
  new TurnkeyServerClient({ apiBaseUrl, organizationId, stamper });

// sign signs a text as wallets do (EIP-191).
export async function sign(client, { address }, message) {
  const { r, s, v } = await client.signRawPayload({
    signWith: address,
    payload: stringToHex(`\x19Ethereum Signed Message:\n${Buffer.byteLength(message)}${message}`),
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });
  return `0x${r}${s}${(27 + Number(v)).toString(16)}`;
}

// newTarget makes the key pair to which the mail will be sealed. The private
// half stays on this device, until the mail has come.
export function newTarget() {
  const { privateKey, publicKeyUncompressed } = generateP256KeyPair();
  return { privateKey, publicKey: publicKeyUncompressed };
}

// open takes the bundle of the mail, and gives a stamper with the recovery key
// that is in it. It throws if the bundle is not for this device.
export function open(bundle, target) {
  let apiPrivateKey;
  try {
    apiPrivateKey = decryptCredentialBundle(bundle, target.privateKey);
  } catch {
    throw new Error('the code is for another device, or damaged');
  }
  const apiPublicKey = Buffer.from(getPublicKey(apiPrivateKey, true)).toString('hex');
  return new ApiKeyStamper({ apiPublicKey, apiPrivateKey });
}

// recover adds a passkey with the recovery key, which is gone after that.
export async function recover(client, userId, authenticator) {
  const { authenticatorId } = await client.recoverUser({ userId, authenticator });
  return authenticatorId[0];
}

// forgetOthers deletes the passkeys that are not the given one.
export async function forgetOthers(client, userId, authenticatorId) {
  const { authenticators } = await client.getAuthenticators({ userId });
  const authenticatorIds = authenticators.map((a) => a.authenticatorId).filter((id) => id !== authenticatorId);
  if (authenticatorIds.length > 0) await client.deleteAuthenticators({ userId, authenticatorIds });
  return authenticators.filter((a) => authenticatorIds.includes(a.authenticatorId)).map((a) => a.authenticatorName);
}
