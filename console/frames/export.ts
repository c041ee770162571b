// Shows a key or the words of a wallet to the person in front of the screen, and to
// no one else: the page around this one cannot read it.
import './frame.css';

import { fromUtf8 } from '../src/client/bytes';
import { injected, optional, serve } from './channel';
import { EmbeddedKey } from './embedded';
import { checkFormat, writeKey } from './formats';
import { styling } from './style';

const shown = document.createElement('div');
shown.className = 'secret';
document.getElementById('frame')!.append(shown);

const embedded = new EmbeddedKey();

serve(
  'export',
  {
    ...embedded.handlers(),
    ...embedded.overrides(),
    ...styling({ main: shown }),
    INJECT_KEY_EXPORT_BUNDLE: async (message) => {
      const format = optional(message, 'keyFormat');
      checkFormat(format);
      const key = await writeKey(await embedded.openExport(message), format);
      await embedded.spend();
      shown.textContent = key;
      return injected;
    },
    INJECT_WALLET_EXPORT_BUNDLE: async (message) => {
      const [words, passphrase] = fromUtf8(await embedded.openExport(message)).split('\n');
      await embedded.spend();
      shown.textContent = passphrase === undefined ? words : `${words}\n\nPassphrase: ${passphrase}`;
      return injected;
    },
  },
  () => embedded.init(),
);
