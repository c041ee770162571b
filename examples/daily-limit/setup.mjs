// What is done once: an organization for the treasury, with its three officers,
// its wallet and its policies. The last step makes any two of them the root quorum.
import { deploy } from './deploy.mjs';
import { apiKey, connect, newKey, server } from './latchkey.mjs';

const ethereumAccount = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

// setUp gives { organizationId, walletId, address, ada, ben, cleo, deployed }. Each
// of the officers is { name, userId, client }; deployed is what `policy apply` printed.
export async function setUp() {
  // Each officer makes a key at home and tells its public half. Here they are
  // all in one place.
  const names = ['Ada', 'Ben', 'Cleo'];
  const keys = names.map(() => newKey());
  const parent = connect(server.organizationId, server.key);
  const { subOrganizationId: organizationId, rootUserIds } = await parent.createSubOrganization({
    subOrganizationName: 'Treasury',
    rootQuorumThreshold: 1, // until everything is in place
    rootUsers: names.map((userName, i) => ({
      userName,
      apiKeys: [apiKey('laptop', keys[i])],
      authenticators: [],
      oauthProviders: [],
    })),
  });
  const [ada, ben, cleo] = names.map((name, i) => ({
    name,
    userId: rootUserIds[i],
    client: connect(organizationId, keys[i]),
  }));

  await ada.client.createUserTag({ userTagName: 'officer', userIds: rootUserIds });
  const { walletId, addresses } = await ada.client.createWallet({ walletName: 'Treasury', accounts: [ethereumAccount] });
  const deployed = deploy(organizationId, keys[0]);

  // From here on, no officer changes anything alone: no policy, no user, no
  // tag, and not this number.
  await ada.client.updateRootQuorum({ threshold: 2, userIds: rootUserIds });
  return { organizationId, walletId, address: addresses[0], ada, ben, cleo, deployed };
}
