// Builds the application for the server of the environment, and serves the files. It
// has no back end: any web server could have them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build, preview } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));

export async function startApp({ port }) {
  const outDir = mkdtempSync(join(tmpdir(), 'latchkey-react-app-'));
  const common = { root, logLevel: 'error', build: { outDir, emptyOutDir: true } };
  await build(common);
  const files = await preview({ ...common, preview: { host: 'localhost', port, strictPort: true } });
  return {
    url: `http://localhost:${files.httpServer.address().port}/`,
    async stop() {
      await files.close();
      rmSync(outDir, { recursive: true, force: true });
    },
  };
}
