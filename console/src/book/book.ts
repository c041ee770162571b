// What the organization holds, as far as names need it: users, policies, addresses,
// contracts, and to whom it has sent before. Read once for an organization, and
// again when something was done here, or something else waits.
import { effect, signal } from '@preact/signals';

import { type Policy } from '../client/models';
import { type Queries } from '../client/queries';
import { type Known } from '../decode/decoded';
import { waiting } from '../feed/feed';
import { ask, organizationId, session } from '../session/session';

export interface Book extends Known {
  users: Map<string, string>; // names by id
  wallets: Map<string, string>;
  policies: Map<string, Policy>;
  names: Map<string, string>; // of the organization's own addresses, in lower case
  walletOf: Map<string, string>; // wallet ids by address, in lower case
  past: Set<string>; // recipients of what was signed lately, in lower case
  fees: Map<string, bigint>; // the highest of them, by network
  quorum: { threshold: number; userIds: string[] };
}

const blank = (): Book => ({
  users: new Map(), wallets: new Map(), policies: new Map(), names: new Map(), walletOf: new Map(), contracts: [], decimals: new Map(), past: new Set(), fees: new Map(),
  quorum: { threshold: 1, userIds: [] },
});

export const book = signal<Book>(blank());
export const bookRead = signal(false);

const most = 1000; // addresses of accounts that are known by name

async function readAccounts({ names, walletOf, wallets }: Book): Promise<void> {
  let after: string | undefined;
  while (names.size < most) {
    const { accounts } = await ask('list_wallet_accounts', { paginationOptions: { limit: '100', ...(after && { after }) } });
    for (const a of accounts) {
      names.set(a.address.toLowerCase(), wallets.get(a.walletId) ?? a.walletId);
      walletOf.set(a.address.toLowerCase(), a.walletId);
    }
    if (accounts.length < 100) break;
    after = accounts[accounts.length - 1].walletAccountId;
  }
}

// readDecimals takes what the definitions of limits say of tokens. Where two of them
// differ, neither is believed. On Tron and Solana no network is named, because their
// transactions name none.
function readDecimals(controls: Queries['list_velocity_controls']['reply']['velocityControls']): Map<string, number> {
  const said = new Map<string, Set<number>>();
  for (const { caip19, decimals } of controls.flatMap((c) => c.dataSource.chainAssetTransfer?.definition ?? [])) {
    const [network, asset = ''] = caip19.split('/');
    const key = network.startsWith('eip155:') ? `${network}/${asset.toLowerCase()}` : asset;
    said.set(key, (said.get(key) ?? new Set()).add(Number(decimals)));
  }
  return new Map([...said].filter(([, all]) => all.size === 1).map(([key, all]) => [key, [...all][0]]));
}

// learn notes to whom the organization has sent lately. It needs the decoders, which
// are loaded for it.
async function learn(into: Book): Promise<void> {
  const { read } = await import('../decode/read');
  const { activities } = await ask('list_activities', {
    filterByType: ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2', 'ACTIVITY_TYPE_SIGN_TRANSACTION'],
    filterByStatus: ['ACTIVITY_STATUS_COMPLETED'],
    paginationOptions: { limit: '100' },
  });
  for (const a of activities) {
    const { decoded } = await read(a, into);
    decoded?.recipients.forEach((to) => into.past.add(to.toLowerCase()));
    const fee = decoded?.fee;
    if (decoded && fee !== undefined && fee > (into.fees.get(decoded.network) ?? 0n)) into.fees.set(decoded.network, fee);
  }
}

export async function readBook(): Promise<void> {
  const of = organizationId.value;
  if (!session.value) return;
  const [users, wallets, policies, keys, contracts, configs, controls] = await Promise.all([
    ask('list_users', {}), ask('list_wallets', {}), ask('list_policies', {}), ask('list_private_keys', {}),
    ask('list_smart_contract_interfaces', {}), ask('get_organization_configs', {}), ask('list_velocity_controls', {}),
  ]);
  const next = blank();
  users.users.forEach((u) => next.users.set(u.userId, u.userName));
  wallets.wallets.forEach((w) => next.wallets.set(w.walletId, w.walletName));
  policies.policies.forEach((p) => next.policies.set(p.policyId, p));
  next.quorum = configs.configs.quorum;
  next.contracts = contracts.smartContractInterfaces.map((c) => ({
    address: c.smartContractAddress, label: c.label, interface: c.smartContractInterface,
    ...(c.decimals && { decimals: Number(c.decimals), symbol: c.symbol }),
  })).reverse();
  next.decimals = readDecimals(controls.velocityControls);
  await readAccounts(next);
  keys.privateKeys.forEach((k) => k.addresses.forEach((a) => next.names.set((a.address ?? '').toLowerCase(), k.privateKeyName)));
  contracts.smartContractInterfaces.forEach((c) => next.names.set(c.smartContractAddress.toLowerCase(), c.label));
  await learn(next);
  if (of === organizationId.value) {
    book.value = next;
    bookRead.value = true;
  }
}

export function keepBook(): void {
  let of = '';
  effect(() => {
    const now = session.value ? organizationId.value : '';
    if (now === of) return;
    of = now;
    bookRead.value = false;
    book.value = blank();
    if (now) void readBook().catch(() => undefined);
  });
  // Who judges a new request must see the users and policies of today.
  effect(() => {
    if (waiting.value !== undefined && bookRead.peek()) void readBook().catch(() => undefined);
  });
}
