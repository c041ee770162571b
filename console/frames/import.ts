// Takes a key or the words of a wallet from the person in front of the screen, and
// seals it for the server: the page around this one gets only what is sealed.
import './frame.css';

import { type Target } from '../src/client/bundle';
import { fromHex, utf8 } from '../src/client/bytes';
import { seal } from '../src/client/hpke';
import { injected, optional, Refused, type Reply, serve, text } from './channel';
import { verified } from './embedded';
import { readKey } from './formats';
import { styling } from './style';

function field(label: string, className: string): HTMLTextAreaElement {
  const box = document.createElement('label');
  const name = document.createElement('span');
  const area = document.createElement('textarea');
  name.textContent = label;
  box.className = className;
  area.autocomplete = 'off';
  area.spellcheck = false;
  area.autocapitalize = 'none';
  box.append(name, area);
  document.getElementById('frame')!.append(box);
  return area;
}

const entered = field('Key or seed phrase', 'entered');
const passphrase = field('Passphrase', 'passphrase');
const enablePassphrase = (on: boolean) => {
  passphrase.parentElement!.hidden = !on;
  entered.previousElementSibling!.toggleAttribute('hidden', !on);
  if (!on) entered.setAttribute('aria-label', 'Key or seed phrase');
  if (!on) passphrase.value = '';
};
enablePassphrase(false);

// What was pasted is in the clipboard, where others can read it. A page that does
// not let its frame write there wants it left.
entered.addEventListener('paste', () => void navigator.clipboard?.writeText('').catch(() => {}));

// target is the key that the server made for this import; gone when it was used.
let target: Uint8Array<ArrayBuffer> | undefined;

async function sealed(plain: Uint8Array<ArrayBuffer>): Promise<Reply> {
  const value = JSON.stringify(await seal(target!, plain));
  target = undefined; // what was entered stays, for when the server refuses it
  return { type: 'ENCRYPTED_BUNDLE_EXTRACTED', value };
}

// typed is what was entered, once there is a bundle to seal it for.
function typed(what: string): string {
  if (!target) throw new Refused('there is no bundle to seal this for, or it was used: inject one of a new import');
  const value = entered.value.trim();
  if (value === '') throw new Refused(`no ${what} was entered`);
  return value;
}

serve(
  'import',
  {
    ...styling({ main: entered, passphrase }, enablePassphrase),
    INJECT_IMPORT_BUNDLE: async (message) => {
      const userId = text(message, 'userId');
      const bundle = await verified<Target>(message);
      const key = fromHex(bundle.targetPublic ?? '');
      if (bundle.userId !== userId || key?.length !== 65) throw new Refused('this bundle is not one that this server signed for an import of the user');
      target = key;
      return injected;
    },
    EXTRACT_WALLET_ENCRYPTED_BUNDLE: () => {
      const words = typed('seed phrase').split(/\s+/).join(' ');
      if (passphrase.value.includes('\n')) throw new Refused('the passphrase must be one line');
      return sealed(utf8(passphrase.value === '' ? words : `${words}\n${passphrase.value}`));
    },
    EXTRACT_KEY_ENCRYPTED_BUNDLE: async (message) => sealed(await readKey(typed('private key'), optional(message, 'keyFormat'))),
  },
  () => '', // nothing is sealed for this frame
);
