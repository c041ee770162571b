// Limits over time: what each control has counted, and what it leaves.
import { useState } from 'preact/hooks';

import { book } from '../../book/book';
import { type CountedControl, type CountedGroup } from '../../client/models';
import { type Queries } from '../../client/queries';
import { ask, decide, organizationId, readOnly } from '../../session/session';
import { t } from '../../text';
import { Confirm } from '../../ui/confirm';
import { useLive } from '../../ui/live';
import { Outcome, report } from '../../ui/outcome';
import { Button, Empty, Heading, Id, Loading, Notice } from '../../ui/parts';
import { CreateLimit } from './create';
import { History } from './history';
import { assetName, inWords, share } from './words';

type Control = Queries['list_velocity_controls']['reply']['velocityControls'][number];

const groupsShown = 100;

async function read(): Promise<Array<Control & { counted?: CountedControl }>> {
  const [{ velocityControls }, { controls }] = await Promise.all([ask('list_velocity_controls', {}), ask('controls', { limit: String(groupsShown) })]);
  return velocityControls.map((c) => ({ ...c, counted: controls.find((n) => n.velocityControlId === c.velocityControlId) }));
}

export function Limits() {
  const { data, error, again } = useLive(read, [], 'often');
  const [creating, setCreating] = useState(false);
  return (
    <main id="content">
      <Heading title={t.nav.limits}>
        {!readOnly.value && !creating && <Button look="primary" onClick={() => setCreating(true)}>{t.limits.create}</Button>}
      </Heading>
      <div class="stack">
        <Outcome />
        {error && <Notice tone="danger" role="alert">{error}</Notice>}
        {!data && !error && <Loading />}
        {data?.length === 0 && <Empty title={t.limits.none}>{t.limits.noneMore}</Empty>}
        {data?.map((c) => <Limit key={c.velocityControlId} control={c} counted={c.counted} onChanged={again} />)}
      </div>
      {creating && <CreateLimit onClose={() => setCreating(false)} onCreated={again} />}
    </main>
  );
}

function Limit({ control, counted, onChanged }: { control: Control; counted?: CountedControl; onChanged: () => void }) {
  const [removing, setRemoving] = useState(false);
  const assets = control.dataSource.chainAssetTransfer?.definition ?? [];
  return (
    <section class="card stack">
      <div class="screen-head">
        <div>
          <h2><bdi>{control.name}</bdi></h2>
          <p class="muted">{inWords(control)}</p>
        </div>
        {!readOnly.value && <Button look="small danger" onClick={() => setRemoving(true)} label={t.limits.removeNamed(control.name)}>{t.remove}</Button>}
      </div>
      <dl class="facts">
        <dt>{t.limits.inPolicies}</dt>
        <dd><code>controls.{control.identifier}</code></dd>
        {assets.length > 0 && <><dt>{t.limits.assets}</dt><dd>{assets.map((a) => <div key={a.caip19}>{assetName(a.caip19)} <code>{a.caip19}</code></div>)}</dd></>}
      </dl>
      {counted && counted.unreadable !== '0' && <Notice tone="caution">{t.limits.unreadable(counted.unreadable)}</Notice>}
      {counted?.groups.length === 0 && <p class="muted">{t.limits.unused}</p>}
      <ul class="stack tight">
        {counted?.groups.map((g) => <Group key={g.groupId} group={g} control={control} alone={counted.groups.length === 1} />)}
      </ul>
      {removing && (
        <Confirm title={t.limits.removeNamed(control.name)} yes={t.remove} onClose={() => setRemoving(false)} work={async () => { report(await decide('delete_velocity_control', { velocityControlId: control.velocityControlId })); onChanged(); }}>
          <p>{t.limits.removeWarning}</p>
        </Confirm>
      )}
    </section>
  );
}

// Group has its plot open where it is the only one.
function Group({ group, control, alone }: { group: CountedGroup; control: Control; alone: boolean }) {
  const [open, setOpen] = useState(alone);
  const { threshold } = control.aggregation;
  const known = group.groupId === organizationId.value ? t.limits.whole : (book.value.users.get(group.groupId) ?? book.value.wallets.get(group.groupId));
  const full = share(group.used, threshold);
  return (
    <li class="stack tight">
      <div class="row between">
        <span>{known ? <bdi>{known}</bdi> : <Id id={group.groupId} what={t.limits.group} />}</span>
        <span><strong>{group.used}</strong> {t.limits.of(threshold)}{group.left !== undefined && <span class="muted"> · {t.limits.left(group.left)}</span>}</span>
      </div>
      <meter class={full >= 0.9 ? 'full' : ''} min={0} max={1} value={full} aria-label={t.limits.usedOf(group.used, threshold)} />
      {group.nextMs && <span class="small muted">{t.limits.next(new Date(Number(group.nextMs)).toLocaleString())}</span>}
      <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary class="small">{t.limits.overTime}</summary>
        {open && <History control={control} groupId={group.groupId} used={group.used} />}
      </details>
    </li>
  );
}
