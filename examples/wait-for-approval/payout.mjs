// A back end that asks for something which people must approve, and goes on when
// they have.
import { apiKey, connect, newKey, server } from './latchkey.mjs';
import { follow, now } from './events.mjs';

// setUp makes an organization in which two must agree: the back end, which asks,
// and Ada, who approves.
export async function setUp() {
  const keys = { backend: newKey(), ada: newKey() };
  const users = Object.entries(keys).map(([userName, key]) => ({
    userName,
    apiKeys: [apiKey('key', key)],
    authenticators: [],
    oauthProviders: [],
  }));
  const { subOrganizationId: organizationId } = await connect(server.organizationId, server.key).createSubOrganization({
    subOrganizationName: 'Payouts',
    rootQuorumThreshold: 2,
    rootUsers: users,
  });
  const user = (key) => ({ key, client: connect(organizationId, key) });
  return { organizationId, backend: user(keys.backend), ada: user(keys.ada) };
}

// ask asks for a wallet and gives the activity, which waits, with the place in the
// feed from which to wait for its end. The place comes first: what happens between
// the two is after it.
export async function ask({ organizationId, backend }, walletName) {
  const after = await now(organizationId, backend.key);
  const { activity } = await backend.client.createWallet({ walletName, accounts: [] });
  return { activity, after };
}

const ended = ['ACTIVITY_STATUS_COMPLETED', 'ACTIVITY_STATUS_REJECTED', 'ACTIVITY_STATUS_FAILED'];

// outcome waits until people have decided.
export async function outcome({ organizationId, backend }, { activity, after }) {
  for await (const { activity: told } of follow(organizationId, backend.key, after)) {
    if (told.id === activity.id && ended.includes(told.status)) return told;
  }
}
