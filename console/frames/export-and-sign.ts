// Holds exported keys in memory and signs with them, as the page around this one
// asks. The page never has the keys.
import './frame.css';

import { injected, optional, Refused, type Reply, serve, text, type Message } from './channel';
import { EmbeddedKey } from './embedded';
import { checkFormat } from './formats';
import { type Chain, chains } from './sign';
import { styling } from './style';

const day = 24 * 60 * 60 * 1000;

interface Held {
  key: Uint8Array<ArrayBuffer>;
  until: number;
}

// held has the keys by address, as the page calls them; '' is the one without.
const held = new Map<string, Held>();
const embedded = new EmbeddedKey();

function forget(address: string): void {
  held.get(address)?.key.fill(0);
  held.delete(address);
}

function keyOf(message: Message): Uint8Array<ArrayBuffer> {
  const address = optional(message, 'address') ?? '';
  const found = held.get(address);
  if (found && found.until > Date.now()) return found.key;
  forget(address);
  throw new Refused(`there is no key for ${address === '' ? 'a request without an address' : address}: inject its export bundle, with the address exactly as here`);
}

async function sign(message: Message, member: 'message' | 'transaction', type: string): Promise<Reply> {
  const key = keyOf(message);
  let sent: Record<string, unknown>;
  try {
    sent = JSON.parse(text(message, 'value')) as Record<string, unknown>;
  } catch {
    throw new Refused(`${message.type} must be JSON with ${member} and type`);
  }
  const { type: chain, [member]: content } = sent;
  if (typeof chain !== 'string' || !Object.hasOwn(chains, chain)) throw new Refused(`the type must be one of ${Object.keys(chains).join(', ')}`);
  if (typeof content !== 'string') throw new Refused(`the ${member} must be a text`);
  const by: Chain = chains[chain];
  return { type, value: by[member](key, content) };
}

serve(
  'export-and-sign',
  {
    ...embedded.handlers(),
    ...embedded.overrides(),
    ...styling({ main: document.getElementById('frame')! }),
    INJECT_KEY_EXPORT_BUNDLE: async (message) => {
      const address = optional(message, 'address') ?? '';
      checkFormat(optional(message, 'keyFormat')); // keys are held as bytes, whatever they are called
      const key = await embedded.openExport(message);
      if (key.length !== 32) throw new Refused('the bundle does not hold a private key');
      forget(address);
      held.set(address, { key, until: Date.now() + day });
      return injected;
    },
    SIGN_MESSAGE: (message) => sign(message, 'message', 'MESSAGE_SIGNED'),
    SIGN_TRANSACTION: (message) => sign(message, 'transaction', 'TRANSACTION_SIGNED'),
    CLEAR_EMBEDDED_PRIVATE_KEY: (message) => {
      const address = optional(message, 'address');
      if (address !== undefined && !held.has(address)) throw new Refused(`there is no key for ${address}`);
      for (const name of address === undefined ? [...held.keys()] : [address]) forget(name);
      return { type: 'EMBEDDED_PRIVATE_KEY_CLEARED', value: true };
    },
  },
  () => embedded.init(),
);
