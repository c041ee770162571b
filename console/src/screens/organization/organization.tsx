// The organization itself: its name, its features, and what can shut people out.
import { useState } from 'preact/hooks';

import { type Configs, type User } from '../../client/interface';
import { ask, decide, organizationId, readOnly, session, visiting } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Confirm } from '../../ui/confirm';
import { useLive } from '../../ui/live';
import { Outcome, report } from '../../ui/outcome';
import { Badge, Button, Field, Heading, Id, Loading, Notice } from '../../ui/parts';
import { Allowlist } from './allowlist';
import { Contracts } from './contracts';

const readAll = async () => {
  const [configs, users] = await Promise.all([ask('get_organization_configs', {}), ask('list_users', {})]);
  return { configs: configs.configs, users: users.users };
};

export function Organization() {
  const { data, error, again } = useLive(readAll, []);
  return (
    <main id="content">
      <Heading title={t.nav.organization} />
      <div class="stack">
        <Outcome />
        {error && <Notice tone="danger" role="alert">{error}</Notice>}
        {!data && !error && <Loading />}
        <Name />
        {data && <Features configs={data.configs} onDone={again} />}
        <Contracts />
        <div>
          <h2>{t.organization.danger}</h2>
          <p class="muted">{t.organization.dangerAbout}</p>
        </div>
        {!readOnly.value && <Allowlist />}
        {data && <Quorum key={JSON.stringify(data.configs.quorum)} configs={data.configs} users={data.users} onDone={again} />}
      </div>
    </main>
  );
}

function Name() {
  const now = visiting.value?.name ?? session.value?.organizationName ?? '';
  const [name, setName] = useState(now);
  const rename = useAction(async () => {
    const done = await decide('update_organization_name', { organizationName: name });
    report(done);
    if (done.result && session.value) session.value = { ...session.value, organizationName: name };
  });
  return (
    <section class="card stack">
      <h2><bdi>{now}</bdi></h2>
      <Id id={organizationId.value} what={t.signIn.organization} />
      {!readOnly.value && (
        <form class="stack" onSubmit={(e) => { e.preventDefault(); void rename.run(); }}>
          <Field label={t.organization.name} value={name} onInput={setName} problem={rename.problem('organizationName')} required />
          <Failure action={rename} />
          <div><Button submit busy={rename.busy} disabled={name === now}>{t.wallets.rename}</Button></div>
        </form>
      )}
    </section>
  );
}

type Feature = 'FEATURE_NAME_WEBAUTHN_ORIGINS';

function Features({ configs, onDone }: { configs: Configs; onDone: () => void }) {
  const origins = configs.features.find((f) => f.name === 'FEATURE_NAME_WEBAUTHN_ORIGINS')?.value ?? '';
  const [next, setNext] = useState(origins);
  const set = useAction(async () => {
    const name: Feature = 'FEATURE_NAME_WEBAUTHN_ORIGINS';
    report(next.trim() ? await decide('set_organization_feature', { name, value: next.trim() }) : await decide('remove_organization_feature', { name }));
    onDone();
  });
  return (
    <section class="card stack">
      <h2>{t.organization.features}</h2>
      <ul class="row">
        {configs.features.map((f) => <li key={f.name}><Badge tone="good">{(f.name ?? '').replace('FEATURE_NAME_', '').replaceAll('_', ' ').toLowerCase()}</Badge></li>)}
      </ul>
      {!readOnly.value && (
        <form class="stack" onSubmit={(e) => { e.preventDefault(); void set.run(); }}>
          <Field label={t.organization.origins} value={next} onInput={setNext} hint={t.organization.originsHint} problem={set.problem('value')} />
          <Failure action={set} />
          <div><Button submit busy={set.busy} disabled={next.trim() === origins}>{t.save}</Button></div>
        </form>
      )}
    </section>
  );
}

function Quorum({ configs, users, onDone }: { configs: Configs; users: User[]; onDone: () => void }) {
  const [members, setMembers] = useState(configs.quorum.userIds);
  const [threshold, setThreshold] = useState(String(configs.quorum.threshold));
  const [asking, setAsking] = useState(false);
  const toggle = (id: string) => setMembers(members.includes(id) ? members.filter((m) => m !== id) : [...members, id]);
  const names = users.filter((u) => members.includes(u.userId)).map((u) => u.userName).join(', ');
  return (
    <section class="card stack">
      <div>
        <h2>{t.organization.quorum}</h2>
        <p class="muted">{t.organization.quorumAbout}</p>
      </div>
      <fieldset class="plain" disabled={readOnly.value}>
        <legend class="legend">{t.organization.members}</legend>
        <div class="checks">
          {users.map((u) => (
            <label key={u.userId}><input type="checkbox" checked={members.includes(u.userId)} onChange={() => toggle(u.userId)} /> <bdi>{u.userName}</bdi></label>
          ))}
        </div>
      </fieldset>
      <Field label={t.organization.threshold} value={threshold} onInput={setThreshold} type="number" />
      {!readOnly.value && <div><Button look="danger" onClick={() => setAsking(true)}>{t.organization.changeQuorum}</Button></div>}
      {asking && (
        <Confirm title={t.organization.changeQuorum} yes={t.organization.changeQuorum} onClose={() => setAsking(false)} work={async () => {
          report(await decide('update_root_quorum', { threshold: Number(threshold), userIds: members }));
          onDone();
        }}>
          <Notice tone="danger">{t.organization.quorumWarning(Number(threshold), names)}</Notice>
        </Confirm>
      )}
    </section>
  );
}
