// Sub-organizations: found by what they hold, and looked at with the parent's key.
import { useState } from 'preact/hooks';

import { type Queries } from '../../client/queries';
import { go } from '../../router';
import { ask, readOnly, visiting } from '../../session/session';
import { t } from '../../text';
import { useLive } from '../../ui/live';
import { Button, Empty, Field, Heading, Id, Loading, Notice } from '../../ui/parts';

type By = NonNullable<Queries['list_suborgs']['request']['filterType']>;
const ways: By[] = ['NAME', 'USERNAME', 'EMAIL', 'PHONE_NUMBER', 'WALLET_ACCOUNT_ADDRESS', 'PUBLIC_KEY', 'CREDENTIAL_ID'];

const page = 50;

export function SubOrganizations() {
  const [by, setBy] = useState<By>('NAME');
  const [text, setText] = useState('');
  const [shown, setShown] = useState(page);
  const search = async () => {
    const filter = text.trim() ? { filterType: by, filterValue: text.trim() } : {};
    const found: string[] = [];
    while (found.length < shown) {
      const after = found[found.length - 1];
      const { organizationIds } = await ask('list_suborgs', { ...filter, paginationOptions: { limit: String(page), ...(after && { after }) } });
      found.push(...organizationIds);
      if (organizationIds.length < page) break;
    }
    return found;
  };
  const { data, error } = useLive(search, [by, text, shown]);
  return (
    <main id="content">
      <Heading title={t.nav.suborgs} />
      <div class="stack">
        <div class="filters">
          <Field label={t.suborgs.by} value={by} onInput={(v) => setBy(v as By)} options={ways.map((w) => [w, t.suborgs.ways[w]])} />
          <Field label={t.suborgs.exactly} value={text} onInput={setText} type="search" />
        </div>
        {error && <Notice tone="danger" role="alert">{error}</Notice>}
        {!data && !error && <Loading />}
        {data?.length === 0 && <Empty title={t.suborgs.none}>{text ? t.suborgs.noneFound : t.suborgs.noneMore}</Empty>}
        {data && data.length > 0 && (
          <ul class="card accounts">
            {data.map((id) => <Row key={id} id={id} />)}
          </ul>
        )}
        {data && data.length >= shown && <div><Button onClick={() => setShown(shown + page)}>{t.more}</Button></div>}
      </div>
    </main>
  );
}

// A sub-organization is named by its users: the interface tells its id alone.
function Row({ id }: { id: string }) {
  const { data } = useLive(() => ask('list_users', { organizationId: id } as never).then((r) => r.users.map((u) => u.userName)), [id], 'once');
  const name = data?.slice(0, 3).join(', ') ?? '';
  const visit = () => {
    visiting.value = { id, name: name || id };
    go('activities');
  };
  return (
    <li>
      <div><strong><bdi>{name || '…'}</bdi></strong><div><Id id={id} what={t.suborgs.id} /></div></div>
      {!readOnly.value && <Button look="small" onClick={visit} label={t.suborgs.openNamed(name || id)}>{t.suborgs.open}</Button>}
    </li>
  );
}
