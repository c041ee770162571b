// All activities: filtered by the address of the page, and kept up to date.
import { useEffect, useRef, useState } from 'preact/hooks';

import { title, useReading } from '../../approval/request';
import { book } from '../../book/book';
import { activityTypes } from '../../client/activities';
import { type View } from '../../client/models';
import { humanize, kindOf } from '../../decode/words';
import { changes } from '../../feed/feed';
import { address, go, place } from '../../router';
import { ask, organizationId } from '../../session/session';
import { t } from '../../text';
import { explain } from '../../ui/action';
import { Button, Empty, Field, Heading, Loading, Notice, Time } from '../../ui/parts';
import { ActivityScreen } from '../activity/activity';
import { exportCSV } from './export';
import { Status } from './status';

type Statuses = Array<View['status']>;

const page = 50;
const types = [...new Set(Object.values(activityTypes).map(([type]) => type))].sort();

interface Filter {
  type: string;
  status: string;
  user: string;
  wallet: string;
  text: string;
  from: string;
  to: string;
}

function filterOf(search: URLSearchParams): Filter {
  const get = (name: string) => search.get(name) ?? '';
  return { type: get('type'), status: get('status'), user: get('user'), wallet: get('wallet'), text: get('text'), from: get('from'), to: get('to') };
}

// concerns reports whether an activity is about a wallet, or signs with it.
function concerns(a: View, wallet: string): boolean {
  const p = (Object.values(a.intent)[0] ?? {}) as Record<string, unknown>;
  return JSON.stringify(p).includes(wallet) || JSON.stringify(a.result).includes(wallet) || book.value.walletOf.get(String(p.signWith ?? '').toLowerCase()) === wallet;
}

const matches = (a: View, f: Filter): boolean => {
  const ms = Number(a.createdAt.seconds) * 1000;
  return (
    (!f.user || a.votes.some((v) => v.userId === f.user)) &&
    (!f.wallet || concerns(a, f.wallet)) &&
    (!f.from || ms >= new Date(`${f.from}T00:00:00`).getTime()) &&
    (!f.to || ms <= new Date(`${f.to}T23:59:59`).getTime()) &&
    (!f.text || JSON.stringify([a.id, a.type, a.intent, a.votes[0]?.user?.userName]).toLowerCase().includes(f.text.toLowerCase()))
  );
};

const older = (f: Filter, after?: string): Promise<View[]> =>
  ask('list_activities', {
    ...(f.type && { filterByType: [f.type] }),
    ...(f.status && { filterByStatus: [f.status] as Statuses }),
    paginationOptions: { limit: String(page), ...(after && { after }) },
  }).then((r) => r.activities);

// merge puts what is newer before what is there, and renews what changed, so that
// nothing on the screen moves that need not.
export function merge(before: View[], newest: View[]): View[] {
  const fresh = new Map(newest.map((a) => [a.id, a]));
  const kept = before.map((a) => fresh.get(a.id) ?? a);
  const known = new Set(before.map((a) => a.id));
  return [...newest.filter((a) => !known.has(a.id)), ...kept];
}

export function Activities({ id }: { id: string }) {
  return id ? <ActivityScreen key={id} id={id} /> : <List />;
}

function List() {
  const filter = filterOf(place.value.search);
  const asked = JSON.stringify([filter.type, filter.status, organizationId.value]);
  const [all, setAll] = useState<View[]>();
  const [end, setEnd] = useState(false);
  const [error, setError] = useState<string>();
  const current = useRef(asked);
  current.current = asked;
  useEffect(() => {
    setAll(undefined);
    setEnd(false);
  }, [asked]);
  useEffect(() => {
    older(filter).then(
      (found) => {
        if (current.current !== asked) return;
        setError(undefined);
        setAll((before) => {
          if (!before) setEnd(found.length < page);
          return before ? merge(before, found) : found;
        });
      },
      (problem) => setError(explain(problem)),
    );
  }, [asked, changes.value]);
  const more = async () => {
    const found = await older(filter, all?.[all.length - 1]?.id);
    setEnd(found.length < page);
    setAll((before) => [...(before ?? []), ...found.filter((a) => !before?.some((b) => b.id === a.id))]);
  };
  const shown = (all ?? []).filter((a) => matches(a, filter));
  return (
    <main id="content">
      <Heading title={t.nav.activities}>
        <Button onClick={() => exportCSV(shown)} disabled={shown.length === 0}>{t.activities.export}</Button>
      </Heading>
      <div class="stack">
        <Filters filter={filter} />
        {error && <Notice tone="danger" role="alert">{error}</Notice>}
        {!all && !error && <Loading />}
        {all && shown.length === 0 && <Empty title={t.activities.none}>{t.activities.noneMore}</Empty>}
        {shown.length > 0 && <Table rows={shown} />}
        {all && !end && <div><Button onClick={() => void more()}>{t.more}</Button></div>}
      </div>
    </main>
  );
}

function Filters({ filter }: { filter: Filter }) {
  const set = (name: keyof Filter) => (value: string) => {
    const next = new URLSearchParams(place.value.search);
    if (value) next.set(name, value);
    else next.delete(name);
    const text = next.toString();
    go(`activities${text ? `?${text}` : ''}`, true);
  };
  const any: [string, string] = ['', t.activities.any];
  const users: Array<[string, string]> = [...book.value.users].map(([id, name]) => [id, name]);
  return (
    <div class="filters">
      <Field label={t.activities.text} value={filter.text} onInput={set('text')} type="search" />
      <Field label={t.activities.type} value={filter.type} onInput={set('type')} options={[any, ...types.map((v): [string, string] => [v, humanize(kindOf(v))])]} />
      <Field label={t.activity.status} value={filter.status} onInput={set('status')} options={[any, ...Object.entries(t.status)]} />
      <Field label={t.activities.user} value={filter.user} onInput={set('user')} options={[any, ...users]} />
      <Field label={t.activities.wallet} value={filter.wallet} onInput={set('wallet')} options={[any, ...book.value.wallets]} />
      <Field label={t.activities.from} value={filter.from} onInput={set('from')} type="date" />
      <Field label={t.activities.to} value={filter.to} onInput={set('to')} type="date" />
    </div>
  );
}

export const Table = ({ rows }: { rows: View[] }) => (
  <div class="card table-card">
    <table class="table">
      <thead>
        <tr><th scope="col">{t.activities.what}</th><th scope="col">{t.activity.by}</th><th scope="col">{t.activity.status}</th><th scope="col">{t.activity.created}</th></tr>
      </thead>
      <tbody>{rows.map((a) => <Row key={a.id} activity={a} />)}</tbody>
    </table>
  </div>
);

function Row({ activity }: { activity: View }) {
  const reading = useReading(activity);
  const failure = activity.failure as { message?: string } | null | undefined;
  return (
    <tr>
      <th scope="row">
        <a href={address(`activities/${activity.id}`)}><bdi>{reading ? title(reading) : humanize(kindOf(activity.type))}</bdi></a>
        {failure?.message && <div class="small muted">{failure.message.slice(0, 160)}</div>}
      </th>
      <td><bdi>{activity.votes[0]?.user?.userName}</bdi></td>
      <td><Status status={activity.status} /></td>
      <td class="muted"><Time at={activity.createdAt} /></td>
    </tr>
  );
}
