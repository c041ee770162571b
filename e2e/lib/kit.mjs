// The application of ../kit, built by Vite with the plugin of packages/latchkey-bundler
// for one server, and served on this machine.
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

import { vite as latchkey } from '../../packages/latchkey-bundler/index.js';
import { frameAddresses } from './frames.mjs';

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

// serveKit gives the address of the application for a server of lib/server.mjs.
export async function serveKit({ place, dev }) {
  const outDir = join(place.data, 'kit');
  await build({
    configFile: false,
    root: fileURLToPath(new URL('../kit/', import.meta.url)),
    logLevel: 'silent',
    plugins: [latchkey({ publicKey: dev.signerPublicKey })],
    build: { outDir, emptyOutDir: true, minify: false },
  });
  const server = createServer(({ url }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const name = pathname === '/' ? 'index.html' : pathname.slice(1);
    try {
      response.setHeader('Content-Type', types[extname(name)] ?? 'application/octet-stream').end(readFileSync(join(outDir, name)));
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const frames = frameAddresses({ place });
  const config = {
    organizationId: dev.organizationId,
    apiBaseUrl: dev.baseUrl,
    ...JSON.parse(readFileSync(join(place.data, 'auth-proxy.json'), 'utf8')),
    exportIframeUrl: frames.export,
    importIframeUrl: frames.import,
    walletConfig: { features: { auth: true }, chains: { ethereum: { native: true }, solana: { native: false } } },
  };
  return {
    url: `http://localhost:${server.address().port}/#${encodeURIComponent(JSON.stringify(config))}`,
    stop() {
      server.close();
      server.closeAllConnections();
      rmSync(outDir, { recursive: true, force: true });
    },
  };
}
