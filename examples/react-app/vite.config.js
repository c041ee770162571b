import { vite as latchkey } from 'latchkey-bundler';

import { server } from './latchkey.mjs';

export default {
  // Codes by mail are encrypted for this server and not for the hosted one.
  plugins: [latchkey({ publicKey: server.signerPublicKey })],
  define: { LATCHKEY: JSON.stringify(server) },
  build: { chunkSizeWarningLimit: 10_000 },
};
