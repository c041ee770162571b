// What an administrator does once: an organization for the shop with a wallet,
// a user for its backend, and the policies.
import { apiKey, connect, newKey, server } from './latchkey.mjs';
import { readPolicies } from './policies.mjs';

const ethereumAccount = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

// setUp gives { organizationId, walletId, address, admin, backend }. The last
// two are { userId, key, client }.
export async function setUp() {
  // An organization of its own. The administrator's key allows everything in it;
  // the backend never sees that key.
  const adminKey = newKey();
  const parent = connect(server.organizationId, server.key);
  const created = await parent.createSubOrganization({
    subOrganizationName: 'Shop',
    rootQuorumThreshold: 1,
    rootUsers: [{ userName: 'Administrator', apiKeys: [apiKey('office', adminKey)], authenticators: [], oauthProviders: [] }],
    wallet: { walletName: 'Hot', accounts: [ethereumAccount] },
  });
  const organizationId = created.subOrganizationId;
  const { walletId, addresses } = created.wallet;
  const admin = { userId: created.rootUserIds[0], key: adminKey, client: connect(organizationId, adminKey) };

  // The backend is an ordinary user: it may do what a policy allows.
  const backendKey = newKey();
  const { userIds } = await admin.client.createUsers({
    users: [
      { userName: 'Backend', apiKeys: [apiKey('server 1', backendKey)], authenticators: [], oauthProviders: [], userTags: [] },
    ],
  });
  const backend = { userId: userIds[0], key: backendKey, client: connect(organizationId, backendKey) };

  await admin.client.createPolicies({
    policies: readPolicies({ 'user.Backend': backend.userId, 'wallet.Hot': walletId }),
  });
  return { organizationId, walletId, address: addresses[0], admin, backend };
}
