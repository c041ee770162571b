// What an activity is, in a few words.
import { type Book } from '../book/book';
import { t } from '../text';
import { type Parameters } from './read';

export const kindOf = (type: string): string => type.replace(/^ACTIVITY_TYPE_/, '').replace(/_V\d+$/, '');

// humanize writes CREATE_USER_TAG as "Create user tag".
export const humanize = (name: string): string => {
  const text = name.replaceAll('_', ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
};

const list = (of: unknown, member: string): string =>
  (Array.isArray(of) ? of : []).map((o) => t.quoted(String((o as Parameters)[member] ?? ''))).join(', ');

const text = (p: Parameters, name: string): string => t.quoted(String(p[name] ?? ''));

export function words(kind: string, p: Parameters, book: Book): string {
  const user = (id: unknown) => book.users.get(String(id)) ?? String(id).slice(0, 8);
  const users = (of: unknown) => (Array.isArray(of) ? of : []).map(user).join(', ');
  const policy = (id: unknown) => t.quoted(book.policies.get(String(id))?.policyName ?? String(id).slice(0, 8));
  const say = t.words;
  switch (kind) {
    case 'CREATE_WALLET': return say.createWallet(text(p, 'walletName'));
    case 'CREATE_WALLET_ACCOUNTS': return say.createAccounts(Array.isArray(p.accounts) ? p.accounts.length : 0);
    case 'CREATE_USERS': return say.createUsers(list(p.users, 'userName'));
    case 'DELETE_USERS': return say.deleteUsers(users(p.userIds));
    case 'CREATE_USER_TAG': return say.createTag(text(p, 'userTagName'));
    case 'CREATE_POLICY': return say.createPolicy(text(p, 'policyName'));
    case 'CREATE_POLICIES': return say.createPolicy(list(p.policies, 'policyName'));
    case 'UPDATE_POLICY': return say.updatePolicy(policy(p.policyId));
    case 'DELETE_POLICY': return say.deletePolicy(policy(p.policyId));
    case 'CREATE_PRIVATE_KEYS': return say.createKeys(list(p.privateKeys, 'privateKeyName'));
    case 'CREATE_SUB_ORGANIZATION': return say.createSubOrganization(text(p, 'subOrganizationName'));
    case 'CREATE_API_KEYS': return say.addKey(user(p.userId));
    case 'CREATE_AUTHENTICATORS': return say.addPasskey(user(p.userId));
    case 'UPDATE_ROOT_QUORUM': return say.updateQuorum(Number(p.threshold), users(p.userIds));
    case 'SIGN_RAW_PAYLOAD': return p.encoding === 'PAYLOAD_ENCODING_TEXT_UTF8' ? say.signMessage : say.signRaw;
    case 'SIGN_RAW_PAYLOADS': return say.signRaw;
    case 'SIGN_TRANSACTION': return say.signTransaction;
    case 'EXPORT_WALLET': return say.exportWallet(book.wallets.get(String(p.walletId)) ?? '');
    case 'UPDATE_WALLET': return say.renameWallet(text(p, 'walletName'));
    case 'CREATE_SMART_CONTRACT_INTERFACE': return say.createInterface(text(p, 'label'));
    case 'STAMP_LOGIN': return say.login;
    default: return humanize(kind);
  }
}
