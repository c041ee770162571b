// A small program that uses the hosted service: it keeps a wallet,
// and signs greetings with it. Nothing in it knows of Latchkey: where the
// service is, comes from the configuration, as it does in production.
import { Turnkey } from '@turnkey/sdk-server';
import { stringToHex } from 'viem';

export class Greeter {
  #client;

  constructor({ apiBaseUrl, defaultOrganizationId, apiPublicKey, apiPrivateKey }) {
    this.#client = new Turnkey({ apiBaseUrl, defaultOrganizationId, apiPublicKey, apiPrivateKey }).apiClient();
  }

  // open makes a wallet, and gives its address on Ethereum.
  async open(walletName) {
    const { addresses } = await this.#client.createWallet({
      walletName,
      accounts: [
        {
          curve: 'CURVE_SECP256K1',
          pathFormat: 'PATH_FORMAT_BIP32',
          path: "m/44'/60'/0'/0/0",
          addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
        },
      ],
    });
    return addresses[0];
  }

  // greet signs a text as wallets do (EIP-191).
  async greet(address, name) {
    const message = `Hello, ${name}!`;
    const { r, s, v } = await this.#client.signRawPayload({
      signWith: address,
      payload: stringToHex(`\x19Ethereum Signed Message:\n${Buffer.byteLength(message)}${message}`),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    });
    return { message, signature: `0x${r}${s}${(27 + Number(v)).toString(16)}` };
  }
}
