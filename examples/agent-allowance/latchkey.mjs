// The server, and clients of it.
import { generateP256KeyPair } from '@turnkey/crypto';
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

// A client that acts in one organization with one API key.
export function connect(organizationId, key) {
  return new Turnkey({
    apiBaseUrl: server.url,
    defaultOrganizationId: organizationId,
    apiPublicKey: key.publicKey,
    apiPrivateKey: key.privateKey,
  }).apiClient();
}

// A key pair for API requests. The server learns the public half only.
export const newKey = generateP256KeyPair;

// The public half, as the server wants to be told of it.
export const apiKey = (apiKeyName, key) => ({ apiKeyName, publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' });
