// What each worker does with its server: the published client makes a wallet and
// signs with it.
const { writeFileSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

const { Turnkey } = require('@turnkey/sdk-server');
const { recoverAddress, keccak256, toHex } = require('viem');

// signWith gives the address of a new wallet, and that of the key that has signed.
exports.signWith = async (latchkey) => {
  const client = new Turnkey({
    apiBaseUrl: latchkey.baseUrl,
    apiPublicKey: latchkey.apiPublicKey,
    apiPrivateKey: latchkey.apiPrivateKey,
    defaultOrganizationId: latchkey.organizationId,
  }).apiClient();
  const { addresses } = await client.createWallet({
    walletName: 'Tests',
    accounts: [{ curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0", addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }],
  });
  const hash = keccak256(toHex(latchkey.baseUrl));
  const { r, s, v } = await client.signRawPayload({
    signWith: addresses[0],
    payload: hash,
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_NO_OP',
  });
  return { wallet: addresses[0], signer: await recoverAddress({ hash, signature: `0x${r}${s}${v}` }) };
};

// meet says that this worker has its server, and waits until all have: they run at
// the same time.
exports.meet = async (name, latchkey, all) => {
  const folder = process.env.MEETING;
  writeFileSync(join(folder, name), JSON.stringify({ baseUrl: latchkey.baseUrl, pid: latchkey.pid, data: latchkey.data }));
  while (readdirSync(folder).length < all) await new Promise((done) => setTimeout(done, 20));
};
