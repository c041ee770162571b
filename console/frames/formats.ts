// Private keys as people write them.
import { ed25519 } from '@noble/curves/ed25519.js';

import { concat, fromHex, hex } from '../src/client/bytes';
import { base58, base58check, bech32Bytes, fromBase58, fromBase58check, fromBech32Bytes } from '../src/decode/base58';
import { Refused } from './channel';

type Bytes = Uint8Array<ArrayBuffer>;

interface Format {
  write(key: Bytes): Promise<string> | string;
  read(text: string): Promise<Bytes | undefined> | Bytes | undefined; // undefined: it is not one
  shape: string;
}

// Wallet import format, with the mark of a compressed public key.
const wif = (version: number, network: string): Format => ({
  write: (key) => base58check(concat(Uint8Array.of(version), key, Uint8Array.of(1))),
  read: async (text) => {
    const payload = await fromBase58check(text);
    return payload?.length === 34 && payload[0] === version && payload[33] === 1 ? payload.slice(1, 33) : undefined;
  },
  shape: `in the wallet import format of ${network}, compressed`,
});

const sui = 'suiprivkey';

const formats: Record<string, Format> = {
  HEXADECIMAL: { write: (key) => '0x' + hex(key), read: (text) => fromHex(text), shape: '64 hex digits' },
  // The seed, and the public key that follows from it.
  SOLANA: {
    write: (key) => base58(concat(key, ed25519.getPublicKey(key))),
    read: (text) => {
      const both = fromBase58(text);
      if (both?.length !== 64) return undefined;
      const seed = both.slice(0, 32);
      return hex(ed25519.getPublicKey(seed)) === hex(both.slice(32)) ? seed : undefined;
    },
    shape: '64 bytes in base58, a seed and its public key',
  },
  BITCOIN_MAINNET_WIF: wif(0x80, 'Bitcoin'),
  BITCOIN_TESTNET_WIF: wif(0xef, 'Bitcoin’s test networks'),
  SUI_BECH32: {
    write: (key) => bech32Bytes(sui, concat(Uint8Array.of(0), key)),
    read: (text) => {
      const payload = fromBech32Bytes(sui, text);
      return payload?.length === 33 && payload[0] === 0 ? payload.slice(1) : undefined;
    },
    shape: `a key of Ed25519 that begins with ${sui}`,
  },
};

function formatOf(name = 'HEXADECIMAL'): Format {
  if (!Object.hasOwn(formats, name)) throw new Refused(`${name} is no format of keys; these are: ${Object.keys(formats).join(', ')}`);
  return formats[name];
}

// checkFormat refuses a name before anything is opened for it.
export const checkFormat = (name?: string): void => void formatOf(name);

export async function writeKey(key: Bytes, format?: string): Promise<string> {
  if (key.length !== 32) throw new Refused('the bundle does not hold a private key; for the words of a wallet call injectWalletExportBundle');
  return formatOf(format).write(key);
}

export async function readKey(text: string, format?: string): Promise<Bytes> {
  const key = await formatOf(format).read(text);
  if (key?.length !== 32) throw new Refused(`what was entered is not a private key: it must be ${formatOf(format).shape}`);
  return key;
}
