// HPKE (RFC 9180) as the interface uses it: base mode, P-256, HKDF-SHA256,
// AES-256-GCM, one message.
import { concat, fromHex, hex, utf8 } from './bytes';

type Bytes = Uint8Array<ArrayBuffer>;

const kem = concat(utf8('KEM'), Uint8Array.of(0, 0x10));
const suite = concat(utf8('HPKE'), Uint8Array.of(0, 0x10, 0, 1, 0, 2));
const version = utf8('HPKE-v1');
const info = utf8('turnkey_hpke');
const curve = { name: 'ECDH', namedCurve: 'P-256' };
const nothing = new Uint8Array(0);

// An empty key is one of zeros to HMAC, and WebCrypto wants one that is not empty.
async function hmac(key: Bytes, data: Bytes): Promise<Bytes> {
  const imported = await crypto.subtle.importKey('raw', key.length > 0 ? key : new Uint8Array(32), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, data));
}

const extract = (of: Bytes, salt: Bytes, label: string, material: Bytes) => hmac(salt, concat(version, of, utf8(label), material));

// Everything here is at most one block of the hash long.
const expand = async (of: Bytes, secret: Bytes, label: string, context: Bytes, length: number) =>
  (await hmac(secret, concat(Uint8Array.of(0, length), version, of, utf8(label), context, Uint8Array.of(1)))).slice(0, length);

async function cipher(dh: Bytes, enc: Bytes, receiver: Bytes): Promise<{ key: CryptoKey; algorithm: AesGcmParams }> {
  const shared = await expand(kem, await extract(kem, nothing, 'eae_prk', dh), 'shared_secret', concat(enc, receiver), 32);
  const context = concat(Uint8Array.of(0), await extract(suite, nothing, 'psk_id_hash', nothing), await extract(suite, nothing, 'info_hash', info));
  const secret = await extract(suite, shared, 'secret', nothing);
  const key = await crypto.subtle.importKey('raw', await expand(suite, secret, 'key', context, 32), 'AES-GCM', false, ['encrypt', 'decrypt']);
  return { key, algorithm: { name: 'AES-GCM', iv: await expand(suite, secret, 'base_nonce', context, 12), additionalData: concat(enc, receiver) } };
}

const raw = async (key: CryptoKey): Promise<Bytes> => new Uint8Array(await crypto.subtle.exportKey('raw', key));
const agree = async (own: CryptoKey, other: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: await crypto.subtle.importKey('raw', other, curve, false, []) }, own, 256));

export interface Sealed {
  encappedPublic: string;
  ciphertext: string;
}

// seal encrypts to a public key, uncompressed.
export async function seal(receiver: Bytes, plain: Bytes): Promise<Sealed> {
  const pair = await generatePair();
  const enc = await raw(pair.publicKey);
  const { key, algorithm } = await cipher(await agree(pair.privateKey, receiver), enc, receiver);
  return { encappedPublic: hex(enc), ciphertext: hex(new Uint8Array(await crypto.subtle.encrypt(algorithm, key, plain))) };
}

// Receiver is a key that lives as long as this page shows what was sealed to it.
export interface Receiver {
  publicKey: string; // uncompressed, hex
  open: (sealed: Sealed) => Promise<Bytes>;
}

export const newReceiver = async (): Promise<Receiver> => receiver(await generatePair());

// generatePair makes a key whose private half never leaves WebCrypto.
export const generatePair = (): Promise<CryptoKeyPair> => crypto.subtle.generateKey(curve, false, ['deriveBits']);

// receiver is one with a key that there is already.
export async function receiver(pair: CryptoKeyPair): Promise<Receiver> {
  const own = await raw(pair.publicKey);
  return {
    publicKey: hex(own),
    open: async ({ encappedPublic, ciphertext }) => {
      const enc = fromHex(encappedPublic)!;
      const { key, algorithm } = await cipher(await agree(pair.privateKey, enc), enc, own);
      return new Uint8Array(await crypto.subtle.decrypt(algorithm, key, fromHex(ciphertext)!));
    },
  };
}
