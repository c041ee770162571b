// Policies to begin with. What stands between « » is to be replaced.
import { type Book } from '../../book/book';

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
  return ids.length >= Math.min(n, 2) ? ids : [...ids, '«user id»'];
};
const wallet = (book: Book): string => [...book.wallets.keys()][0] ?? '«wallet id»';
const anyOf = (ids: string[]): string => `[${ids.map((id) => `'${id}'`).join(', ')}]`;
const blank: Draft = { policyName: '', effect: 'EFFECT_ALLOW', condition: '', consensus: '', time: '', notes: '' };

export const templates: Template[] = [
  {
    name: 'Two of three',
    make: (book) => ({
      ...blank, policyName: 'Two of three approve transactions',
      condition: "activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2'",
      consensus: `approvers.filter(user, user.id in ${anyOf(some(book, 3))}).count() >= 2`,
    }),
  },
  {
    name: 'Spending limit',
    make: (book) => ({
      ...blank, policyName: 'Small transfers by one person',
      condition: `eth.tx.chain_id == 1 && eth.tx.value <= 1000000000000000000 && eth.tx.data == '0x'`,
      consensus: `approvers.any(user, user.id == '${some(book, 1)[0]}')`,
      notes: 'Up to 1 ETH in one transaction, without a call.',
    }),
  },
  {
    name: 'Allowlist of recipients',
    make: () => ({
      ...blank, policyName: 'Only known recipients', effect: 'EFFECT_DENY',
      condition: "activity.action == 'SIGN' && !(eth.tx.to in ['«0x address»'])",
    }),
  },
  {
    name: 'One contract function',
    make: (book) => ({
      ...blank, policyName: 'Token transfers only',
      condition: "eth.tx.to == '«0x contract»' && eth.tx.data[0..10] == '0xa9059cbb'",
      consensus: `approvers.any(user, user.id == '${some(book, 1)[0]}')`,
    }),
  },
  {
    name: 'Working hours',
    make: (book) => ({
      ...blank, policyName: 'Signing in working hours',
      condition: `wallet.id == '${wallet(book)}' && activity.action == 'SIGN'`,
      consensus: `approvers.any(user, user.id == '${some(book, 1)[0]}')`,
      time: "CronSpan('0 9 * * 1-5', '8h', 'Europe/Berlin')",
    }),
  },
  {
    name: 'Agent',
    make: (book) => ({
      ...blank, policyName: 'What the agent may sign',
      condition: `wallet.id == '${wallet(book)}' && eth.tx.to == '«0x contract»' && eth.tx.value == 0`,
      consensus: "credentials.any(credential, credential.public_key == '«public key of the agent»')",
    }),
  },
];
