import '@turnkey/react-wallet-kit/styles.css';
import './style.css';

import { TurnkeyProvider } from '@turnkey/react-wallet-kit';
import { createRoot } from 'react-dom/client';

import { App } from './app.jsx';

// What vite.config.js took from the environment: the only lines that differ from an
// application of the hosted service.
const config = {
  organizationId: LATCHKEY.organizationId,
  apiBaseUrl: LATCHKEY.url,
  authProxyUrl: LATCHKEY.authProxyUrl,
  authProxyConfigId: LATCHKEY.authProxyConfigId,
  exportIframeUrl: LATCHKEY.exportFrame,
  importIframeUrl: LATCHKEY.importFrame,
};

createRoot(document.getElementById('root')).render(
  <TurnkeyProvider config={config}>
    <App />
  </TurnkeyProvider>,
);
