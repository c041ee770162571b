// Where the server's program is.
import { existsSync } from 'node:fs';
import { arch, platform } from 'node:process';
import { fileURLToPath } from 'node:url';

const names = { x64: 'amd64', arm64: 'arm64' };

// program is the path of the server's program: what LATCHKEY_BIN names, or the one
// in this package.
export function program() {
  if (process.env.LATCHKEY_BIN) return process.env.LATCHKEY_BIN;
  const name = `${platform}-${names[arch] ?? arch}`;
  const path = fileURLToPath(new URL(`bin/${name}/latchkey`, import.meta.url));
  if (!existsSync(path)) {
    throw new Error(
      `latchkey-dev has no server for ${name}, only for linux-amd64 and linux-arm64: ` +
        'build one with Go (make build in the sources of Latchkey), and name it in LATCHKEY_BIN',
    );
  }
  return path;
}
