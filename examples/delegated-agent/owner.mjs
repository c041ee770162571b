// What the owner of the wallet does: make a place for the agent, write down
// what it may do, and hand it a key that expires.
import { readFileSync } from 'node:fs';

import { apiKey, connect, newKey, server } from './latchkey.mjs';
import { readPolicies } from './policies.mjs';

export const token = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
export const abi = readFileSync(new URL('abi.json', import.meta.url), 'utf8');

const ethereumAccount = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

// setUp gives { organizationId, walletId, address, uma, agentId }. uma is
// { userId, client }.
export async function setUp() {
  // Uma owns her organization and the wallet in it. In a real application she
  // would have a passkey instead of the key.
  const umaKey = newKey();
  const parent = connect(server.organizationId, server.key);
  const created = await parent.createSubOrganization({
    subOrganizationName: 'Uma',
    rootQuorumThreshold: 1,
    rootUsers: [{ userName: 'Uma', apiKeys: [apiKey('laptop', umaKey)], authenticators: [], oauthProviders: [] }],
    wallet: { walletName: 'Main', accounts: [ethereumAccount] },
  });
  const organizationId = created.subOrganizationId;
  const { walletId, addresses } = created.wallet;
  const uma = { userId: created.rootUserIds[0], client: connect(organizationId, umaKey) };

  // Every user must have one credential that does not expire. No one may have the
  // agent's: its private half is discarded at once.
  const discarded = apiKey('discarded', newKey());
  const { userIds } = await uma.client.createUsers({
    users: [{ userName: 'Agent', apiKeys: [discarded], authenticators: [], oauthProviders: [], userTags: [] }],
  });
  const [agentId] = userIds;

  // With the ABI, policies can read calls of the contract.
  await uma.client.createSmartContractInterface({
    smartContractAddress: token,
    smartContractInterface: abi,
    type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
    label: 'USDC',
    notes: '',
  });
  await uma.client.createPolicies({ policies: readPolicies({ 'user.Agent': agentId, 'wallet.Main': walletId }) });
  return { organizationId, walletId, address: addresses[0], uma, agentId };
}

// mandate lets the agent in for so many seconds. The agent makes the key pair
// and tells the public half.
export async function mandate({ uma, agentId }, publicKey, seconds) {
  const { apiKeyIds } = await uma.client.createApiKeys({
    userId: agentId,
    apiKeys: [{ ...apiKey(`mandate ${publicKey.slice(2, 10)}`, { publicKey }), expirationSeconds: String(seconds) }],
  });
  return apiKeyIds[0];
}
