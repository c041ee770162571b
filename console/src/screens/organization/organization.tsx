// The organization itself: its name, its features, and what can shut people out.
import { useState } from 'preact/hooks';

import { type Activities } from '../../client/activities';
import { type Configs, type User } from '../../client/models';
import { address } from '../../router';
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
        {data && <Features key={JSON.stringify(data.configs.features)} configs={data.configs} onDone={again} />}
        <Contracts />
        {data && <Factors users={data.users} />}
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

type Feature = Activities['set_organization_feature']['parameters']['name'];

const origins: Feature = 'FEATURE_NAME_WEBAUTHN_ORIGINS';
const switches = Object.keys(t.organization.switches) as Array<keyof typeof t.organization.switches>;

// Features with a value, such as the auth proxy, are set where they belong.
const wordOf = (name: string) => name.replace('FEATURE_NAME_', '').replaceAll('_', ' ').toLowerCase();

function Features({ configs, onDone }: { configs: Configs; onDone: () => void }) {
  const valueOf = (name: Feature) => configs.features.find((f) => f.name === name)?.value;
  const now = valueOf(origins) ?? '';
  const [next, setNext] = useState(now);
  const [turning, setTurning] = useState<(typeof switches)[number]>();
  const set = useAction(async () => {
    report(next.trim() ? await decide('set_organization_feature', { name: origins, value: next.trim() }) : await decide('remove_organization_feature', { name: origins }));
    onDone();
  });
  const others = configs.features.map((f) => f.name ?? '').filter((name) => !(switches as string[]).includes(name));
  const on = (name: Feature) => valueOf(name) !== undefined;
  return (
    <section class="card stack">
      <h2>{t.organization.features}</h2>
      <ul class="accounts">
        {switches.map((name) => (
          <li key={name}>
            <div>
              <div class="row"><strong>{t.organization.switches[name].name}</strong> <Badge tone={on(name) ? 'good' : undefined}>{on(name) ? t.organization.on : t.organization.off}</Badge></div>
              <div class="muted small">{t.organization.switches[name].about}</div>
            </div>
            {!readOnly.value && <Button look="small" label={t.organization.turn(!on(name), t.organization.switches[name].name)} onClick={() => setTurning(name)}>{on(name) ? t.organization.turnOff : t.organization.turnOn}</Button>}
          </li>
        ))}
      </ul>
      {others.length > 0 && <ul class="row">{others.map((name) => <li key={name}><Badge tone="good">{wordOf(name)}</Badge></li>)}</ul>}
      {!readOnly.value && (
        <form class="stack" onSubmit={(e) => { e.preventDefault(); void set.run(); }}>
          <Field label={t.organization.origins} value={next} onInput={setNext} hint={t.organization.originsHint} problem={set.problem('value')} />
          <Failure action={set} />
          <div><Button submit busy={set.busy} disabled={next.trim() === now}>{t.save}</Button></div>
        </form>
      )}
      {turning && (
        <Confirm title={t.organization.turn(!on(turning), t.organization.switches[turning].name)} yes={on(turning) ? t.organization.turnOff : t.organization.turnOn} onClose={() => setTurning(undefined)} work={async () => {
          report(on(turning) ? await decide('remove_organization_feature', { name: turning }) : await decide('set_organization_feature', { name: turning, value: 'true' }));
          onDone();
        }}>
          <p>{t.organization.switches[turning].about}</p>
        </Confirm>
      )}
    </section>
  );
}

// Multi-factor policies belong to users; who has none is seen here.
function Factors({ users }: { users: User[] }) {
  const guarded = users.filter((u) => u.mfaPolicies.length > 0);
  return (
    <section class="card stack">
      <div>
        <h2>{t.factors.title}</h2>
        <p class="muted">{t.organization.factors(guarded.length, users.length)}</p>
      </div>
      {guarded.length > 0 && (
        <ul class="accounts">
          {guarded.map((u) => (
            <li key={u.userId}>
              <a href={address(`users/${u.userId}`)}><bdi>{u.userName}</bdi></a>
              <span class="row">{u.mfaPolicies.map((p) => <Badge key={p.mfaPolicyId}><bdi>{p.mfaPolicyName}</bdi></Badge>)}</span>
            </li>
          ))}
        </ul>
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
