// An application on the published kit, as small as one can be. Tests call the kit
// from outside. What an application would have in its source is in the address.
import { TurnkeyProvider, useTurnkey } from '@turnkey/react-wallet-kit';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';

import { installWallet } from './wallet.js';

function Application() {
  const kit = useTurnkey();
  window.kit = kit;
  return createElement('p', null, `${kit.clientState} ${kit.authState}`);
}

installWallet();
// A login at another site comes back without it.
if (location.hash.startsWith('#%7B')) sessionStorage.config = decodeURIComponent(location.hash.slice(1));
const config = JSON.parse(sessionStorage.config);
createRoot(document.getElementById('root')).render(
  createElement(TurnkeyProvider, { config }, createElement(Application)),
);
