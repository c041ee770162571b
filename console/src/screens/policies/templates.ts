// Policies to begin with. What stands between « » is to be replaced.
import { type Book } from '../../book/book';
import { t } from '../../text';

export interface Draft {
  policyName: string;
  effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
  condition: string;
  consensus: string;
  time: string;
  notes: string;
}

export interface Template {
  name: string;
  make: (book: Book) => Draft;
}

// The first users, as far as there are; two at least.
const some = (book: Book, n: number): string[] => {
  const ids = [...book.users.keys()].slice(0, n);
  return ids.length >= Math.min(n, 2) ? ids : [...ids, t.templates.userId];
};
const wallet = (book: Book): string => [...book.wallets.keys()][0] ?? t.templates.walletId;
const anyOf = (ids: string[]): string => `[${ids.map((id) => `'${id}'`).join(', ')}]`;
const blank: Draft = { policyName: '', effect: 'EFFECT_ALLOW', condition: '', consensus: '', time: '', notes: '' };

export const templates: Template[] = [
  {
    name: t.templates.twoOfThree.name,
    make: (book) => ({
      ...blank, policyName: t.templates.twoOfThree.policy,
      condition: "activity.kind == 'SIGN_TRANSACTION'",
      consensus: `approvers.filter(user, user.id in ${anyOf(some(book, 3))}).count() >= 2`,
    }),
  },
  {
    name: t.templates.spending.name,
    make: (book) => ({
      ...blank, policyName: t.templates.spending.policy,
      condition: `eth.tx.chain_id == 1 && eth.tx.value <= 1000000000000000000 && eth.tx.data == '0x'`,
      consensus: `approvers.any(user, user.id == '${some(book, 1)[0]}')`,
      notes: t.templates.spending.notes,
    }),
  },
  {
    name: t.templates.allowlist.name,
    make: () => ({
      ...blank, policyName: t.templates.allowlist.policy, effect: 'EFFECT_DENY',
      condition: "activity.action == 'SIGN' && !(eth.tx.to in ['«0x address»'])",
    }),
  },
  {
    name: t.templates.oneFunction.name,
    make: (book) => ({
      ...blank, policyName: t.templates.oneFunction.policy,
      condition: "eth.tx.to == '«0x contract»' && eth.tx.data[0..10] == '0xa9059cbb'",
      consensus: `approvers.any(user, user.id == '${some(book, 1)[0]}')`,
    }),
  },
  {
    name: t.templates.hours.name,
    make: (book) => ({
      ...blank, policyName: t.templates.hours.policy,
      condition: `wallet.id == '${wallet(book)}' && activity.action == 'SIGN'`,
      consensus: `approvers.any(user, user.id == '${some(book, 1)[0]}')`,
      time: "CronSpan('0 9 * * 1-5', '8h', 'Europe/Berlin')",
    }),
  },
  {
    name: t.templates.agent.name,
    make: (book) => ({
      ...blank, policyName: t.templates.agent.policy,
      condition: `wallet.id == '${wallet(book)}' && eth.tx.to == '«0x contract»' && eth.tx.value == 0`,
      consensus: "credentials.any(credential, credential.public_key == '«public key of the agent»')",
    }),
  },
];
