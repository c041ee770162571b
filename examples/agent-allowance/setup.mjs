// What the owner does once: a place for the agent, and the rules it is under.
import { deploy } from './deploy.mjs';
import { apiKey, connect, newKey, server } from './latchkey.mjs';

const ethereumAccount = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

// setUp gives { organizationId, address, owner, agent, deployed }. owner and agent
// are { userId, client }; deployed is what `policy apply` printed.
export async function setUp() {
  const ownerKey = newKey();
  const parent = connect(server.organizationId, server.key);
  const created = await parent.createSubOrganization({
    subOrganizationName: 'Agents',
    rootQuorumThreshold: 1,
    rootUsers: [{ userName: 'Uma', apiKeys: [apiKey('laptop', ownerKey)], authenticators: [], oauthProviders: [] }],
    wallet: { walletName: 'Purse', accounts: [ethereumAccount] },
  });
  const organizationId = created.subOrganizationId;
  const owner = { userId: created.rootUserIds[0], client: connect(organizationId, ownerKey) };
  const agentKey = newKey();
  const { userIds } = await owner.client.createUsers({
    users: [{ userName: 'Agent', apiKeys: [apiKey('agent', agentKey)], authenticators: [], oauthProviders: [], userTags: [] }],
  });
  const deployed = deploy(organizationId, ownerKey);
  const agent = { userId: userIds[0], client: connect(organizationId, agentKey) };
  return { organizationId, address: created.wallet.addresses[0], owner, agent, deployed };
}
