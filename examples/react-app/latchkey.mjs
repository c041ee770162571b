// The server, from the environment. `latchkey dev` writes what pages need into its
// data folder; with another server it is given.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run this with ../stand-in/with-latchkey, or see ../README.md`);
  return value;
}

function pages() {
  const data = process.env.LATCHKEY_DATA;
  if (!data) {
    const authProxyConfigId = required('LATCHKEY_AUTH_PROXY_CONFIG_ID');
    const frame = (name) => `${required('LATCHKEY_FRAMES_URL')}/${authProxyConfigId}/${name}`;
    return { authProxyUrl: required('LATCHKEY_URL'), authProxyConfigId, exportFrame: frame('export'), importFrame: frame('import') };
  }
  const read = (name) => JSON.parse(readFileSync(join(data, name), 'utf8'));
  const frames = read('frames.json');
  return { ...read('auth-proxy.json'), exportFrame: frames.export, importFrame: frames.import };
}

export const server = {
  url: required('LATCHKEY_URL'),
  organizationId: required('LATCHKEY_ORGANIZATION_ID'),
  signerPublicKey: required('LATCHKEY_SIGNER_PUBLIC_KEY'),
  ...pages(),
};
