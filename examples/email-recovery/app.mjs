// The application's server. It has an API key of the parent organization, with
// which it creates organizations for users and starts their recovery. It never
// has a key that acts for a user.
import { Turnkey } from '@turnkey/sdk-server';

const ethereumAccount = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

export class App {
  #config;
  #parent;

  constructor({ apiBaseUrl, organizationId, apiPublicKey, apiPrivateKey }) {
    this.#config = { apiBaseUrl, apiPublicKey, apiPrivateKey };
    this.#parent = this.in(organizationId);
  }

  // in gives the application's client in an organization.
  in(defaultOrganizationId) {
    return new Turnkey({ ...this.#config, defaultOrganizationId }).apiClient();
  }

  // signUp creates an organization for a user with a passkey, an e-mail address
  // and a wallet.
  async signUp({ name, email, authenticator }) {
    const { subOrganizationId, rootUserIds, wallet } = await this.#parent.createSubOrganization({
      subOrganizationName: `Wallet of ${name}`,
      rootQuorumThreshold: 1,
      rootUsers: [{ userName: name, userEmail: email, apiKeys: [], authenticators: [authenticator], oauthProviders: [] }],
      wallet: { walletName: 'Main', accounts: [ethereumAccount] },
    });
    return { organizationId: subOrganizationId, userId: rootUserIds[0], address: wallet.addresses[0] };
  }

  // startRecovery has Latchkey mail a recovery key to an address. The key is
  // sealed to targetPublicKey, which the user's new device made: neither the
  // mailbox alone nor that device alone is enough. The caller learns nothing,
  // not even whether the address is known.
  async startRecovery({ email, targetPublicKey, expirationSeconds }) {
    const { organizationIds } = await this.#parent.getSubOrgIds({ filterType: 'EMAIL', filterValue: email });
    for (const organizationId of organizationIds) {
      await this.in(organizationId).initUserEmailRecovery({
        email,
        targetPublicKey,
        expirationSeconds,
        emailCustomization: { appName: 'Example Wallet' },
      });
    }
  }
}
