// Holds the credential of a login, and stamps with it what the page around this one
// asks for. The page never has the credential, only what is stamped.
import './frame.css';

import { hex } from '../src/client/bytes';
import { importKey, type KeyPair, stampWith, uncompressed } from '../src/client/p256';
import { fromBase58check } from '../src/decode/base58';
import { type Handlers, injected, Refused, serve, text } from './channel';
import { EmbeddedKey } from './embedded';
import { keepFor } from './keep';

// The key outlives the document: mails with a credential are opened later, and a
// page that is loaded again injects the bundle of its session again. Each origin
// that has this frame in a page has a key of its own.
let embedded: EmbeddedKey;
let credential: KeyPair | undefined;

const keyHandler =
  (type: string): Handlers[string] =>
  (message) =>
    embedded.handlers()[type](message);

const inject: Handlers[string] = async (message) => {
  const bytes = await fromBase58check(text(message, 'value'));
  const enc = bytes && uncompressed(bytes.slice(0, 33));
  if (!enc) throw new Refused('this is not a credential bundle: it must be base58 with its check, a compressed public key and what is sealed to this frame');
  const secret = await embedded.open({ encappedPublic: hex(enc), ciphertext: hex(bytes.slice(33)) });
  const key = await importKey(hex(secret));
  if (!key) throw new Refused('the bundle does not hold a private key of P-256');
  credential = key;
  return injected;
};

serve(
  'auth',
  {
    GET_EMBEDDED_PUBLIC_KEY: keyHandler('GET_EMBEDDED_PUBLIC_KEY'),
    INIT_EMBEDDED_KEY: keyHandler('INIT_EMBEDDED_KEY'),
    RESET_EMBEDDED_KEY: async (message) => {
      credential = undefined;
      return embedded.handlers().RESET_EMBEDDED_KEY(message);
    },
    INJECT_CREDENTIAL_BUNDLE: inject,
    INJECT_RECOVERY_BUNDLE: inject, // what stampers before version 2 called it
    STAMP_REQUEST: async (message) => {
      if (!credential) throw new Refused('there is no credential to stamp with: inject a credential bundle first');
      const [, value] = await stampWith(credential, text(message, 'value'));
      return { type: 'STAMP', value };
    },
  },
  ({ origin, keyLifetime }) => {
    embedded = new EmbeddedKey(keepFor(origin, keyLifetime));
    return embedded.init();
  },
);
