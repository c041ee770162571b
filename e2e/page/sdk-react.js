// An application on @turnkey/sdk-react, as small as one can be. Tests call it from
// outside. What an application would have in its source is in the address.
import { TurnkeyProvider, useTurnkey } from '@turnkey/sdk-react';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';

function Application() {
  window.sdk = useTurnkey();
  return createElement('p', null, window.sdk.authIframeClient ? 'ready' : 'loading');
}

const config = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const root = document.body.appendChild(document.createElement('div'));
createRoot(root).render(createElement(TurnkeyProvider, { config }, createElement(Application)));
