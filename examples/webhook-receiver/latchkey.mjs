// The server, and a client of it.
import { Turnkey } from '@turnkey/sdk-server';

// The server and the key of an administrator there, from the environment.
export const server = {
  url: required('LATCHKEY_URL'),
  organizationId: required('LATCHKEY_ORGANIZATION_ID'),
  key: { publicKey: required('LATCHKEY_API_PUBLIC_KEY'), privateKey: required('LATCHKEY_API_PRIVATE_KEY') },
};

function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run this with ../stand-in/with-latchkey, or see ../README.md`);
  return value;
}

export const client = () =>
  new Turnkey({
    apiBaseUrl: server.url,
    defaultOrganizationId: server.organizationId,
    apiPublicKey: server.key.publicKey,
    apiPrivateKey: server.key.privateKey,
  }).apiClient();
