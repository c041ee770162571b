// Files of cases, as latchkey policy test reads them. Here the cases are about the
// organization itself: its users, wallets and accounts are meant by the names.
import { parse } from 'yaml';

import { type Book } from '../../book/book';
import { activityTypes } from '../../client/activities';
import { ask } from '../../session/session';
import { t } from '../../text';
import { type Outcome } from './outcome';

export interface Case {
  name: string;
  type: string;
  parameters: Record<string, unknown>;
  voters: string[]; // ids, the submitter's first
  time?: string;
  expect: Outcome;
  deniedBy?: string[];
  canApprove?: string[]; // names
}

export class BadCases extends Error {}

const outcomes = ['ALLOW', 'DENY', 'PENDING'];

const text = (v: unknown): string | undefined => (typeof v === 'string' && v !== '' ? v : undefined);
const texts = (v: unknown): string[] | undefined => (Array.isArray(v) && v.every((e) => typeof e === 'string') ? (v as string[]) : undefined);
const record = (v: unknown): Record<string, unknown> | undefined => (v !== null && typeof v === 'object' && !Array.isArray(v) ? (v as Record<string, unknown>) : undefined);

// Names are what ${kind.name} stands for.
type Names = Record<string, Map<string, string>>;

const turned = (ids: Map<string, string>) => new Map([...ids].map(([id, name]) => [name, id]));

// namesOf asks for what the book does not have. An account of the file is that of the
// organization's wallet of the same name which has its address, or else its place
// among those of its format.
async function namesOf(file: Record<string, unknown>, book: Book): Promise<Names> {
  const { userTags } = await ask('list_user_tags', {});
  const names: Names = {
    user: turned(book.users), wallet: turned(book.wallets), account: new Map(),
    tag: new Map(userTags.map((tag) => [tag.tagName, tag.tagId])),
  };
  for (const wallet of (Array.isArray(file.wallets) ? file.wallets : []).map(record)) {
    const walletId = names.wallet.get(String(wallet?.name));
    if (!walletId || !Array.isArray(wallet?.accounts)) continue;
    const { accounts } = await ask('list_wallet_accounts', { walletId, paginationOptions: { limit: '100' } });
    for (const named of wallet.accounts.map(record)) {
      const format = text(named?.format) ?? 'ADDRESS_FORMAT_ETHEREUM';
      const wanted = text(named?.address);
      const used = new Set(names.account.values());
      const found = wanted ?? accounts.find((a) => a.addressFormat === format && !used.has(a.address))?.address;
      if (found && text(named?.name)) names.account.set(String(named!.name), found);
    }
  }
  return names;
}

function byName(names: Names, kind: string, name: string): string {
  if (!names[kind]) throw new BadCases(t.policies.noSuchKind(kind));
  const found = names[kind].get(name);
  if (found === undefined) throw new BadCases(t.policies.noSuchName(kind, name));
  return found;
}

const replaced = (s: string, names: Names): string =>
  s.replace(/(\$?)\$\{(\w+)\.([^}]*)\}/g, (whole, escaped: string, kind: string, name: string) => (escaped ? whole.slice(1) : byName(names, kind, name)));

function resolve(value: unknown, names: Names): unknown {
  if (typeof value === 'string') return replaced(value, names);
  if (Array.isArray(value)) return value.map((v) => resolve(v, names));
  const members = record(value);
  return members ? Object.fromEntries(Object.entries(members).map(([k, v]) => [k, resolve(v, names)])) : value;
}

function readCase(raw: unknown, number: number, names: Names): Case {
  const c = record(raw);
  const name = text(c?.name) ?? `#${number}`;
  const bad = (what: string) => new BadCases(t.policies.badCase(name, what));
  if (!c) throw bad('case');
  const operation = text(c.operation);
  const type = text(c.type) ?? (operation && (activityTypes as Record<string, [string, string] | undefined>)[operation]?.[0]);
  if (!type) throw bad('operation');
  const parameters = record(c.parameters);
  if (!parameters) throw bad('parameters');
  const submitter = text(c.submitter);
  if (!submitter) throw bad('submitter');
  if (!outcomes.includes(String(c.expect))) throw bad('expect');
  if (c.approvers !== undefined && !texts(c.approvers)) throw bad('approvers');
  return {
    name, type, parameters: resolve(parameters, names) as Record<string, unknown>,
    voters: [submitter, ...(texts(c.approvers) ?? [])].map((n) => byName(names, 'user', n)),
    ...(c.time !== undefined && { time: String(c.time) }),
    expect: c.expect as Outcome, deniedBy: texts(c.deniedBy), canApprove: texts(c.canApprove),
  };
}

// readCases reads a file of YAML or JSON.
export async function readCases(content: string, book: Book): Promise<Case[]> {
  let file: Record<string, unknown> | undefined;
  try {
    file = record(parse(content, { maxAliasCount: 0 }));
  } catch (error) {
    throw new BadCases((error as Error).message);
  }
  const cases = file?.cases;
  if (!file || !Array.isArray(cases) || cases.length === 0) throw new BadCases(t.policies.noCases);
  const names = await namesOf(file, book);
  return cases.map((c, i) => readCase(c, i + 1, names));
}
