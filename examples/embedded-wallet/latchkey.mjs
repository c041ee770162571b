// The server, and the application's key there, from the environment.
export const server = {
  apiBaseUrl: required('LATCHKEY_URL'),
  organizationId: required('LATCHKEY_ORGANIZATION_ID'),
  apiPublicKey: required('LATCHKEY_API_PUBLIC_KEY'),
  apiPrivateKey: required('LATCHKEY_API_PRIVATE_KEY'),
};

function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run this with ../stand-in/with-latchkey, or see ../README.md`);
  return value;
}
