// Policies: the list, and the editor of one.
import { useState } from 'preact/hooks';

import { book, bookRead } from '../../book/book';
import { type Policy } from '../../client/models';
import { address, go, place } from '../../router';
import { ask, decide, readOnly } from '../../session/session';
import { t } from '../../text';
import { Confirm } from '../../ui/confirm';
import { useLive } from '../../ui/live';
import { Outcome, report } from '../../ui/outcome';
import { Badge, Button, Empty, Heading, Loading, Notice, Time } from '../../ui/parts';
import { named } from '../activity/decision';
import { Editor } from './edit';
import { templates } from './templates';

// readLately counts what each policy said to the last requests.
async function readLately(): Promise<{ requests: number; said: Record<string, string> }> {
  const { activities } = await ask('list_activities', { paginationOptions: { limit: '30' } });
  const counts = new Map<string, Map<string, number>>();
  const all = await Promise.all(activities.map((a) => ask('get_policy_evaluations', { activityId: a.id })));
  for (const { policyEvaluations } of all) {
    for (const e of policyEvaluations[policyEvaluations.length - 1]?.policyEvaluations ?? []) {
      const of = counts.get(e.policyId) ?? new Map<string, number>();
      counts.set(e.policyId, of.set(e.outcome, (of.get(e.outcome) ?? 0) + 1));
    }
  }
  const words = (of: Map<string, number>) => [...of].map(([outcome, n]) => `${t.activity.outcomes[outcome] ?? outcome} ${n}×`).join(', ');
  return { requests: activities.length, said: Object.fromEntries([...counts].map(([id, of]) => [id, words(of)])) };
}

export function Policies({ id }: { id: string }) {
  const { data, error, again } = useLive(() => ask('list_policies', {}).then((r) => r.policies), []);
  const { data: lately } = useLive(readLately, [], 'once');
  const [removing, setRemoving] = useState<Policy>();
  const policy = data?.find((p) => p.policyId === id);
  const template = templates[Number(place.value.search.get('template') ?? -1)];
  // A template names the users, who must be known.
  if (policy || (id === 'new' && (!template || bookRead.value))) {
    return <Editor key={id + (template?.name ?? '')} policy={policy} draft={template?.make(book.value)} onDone={() => { again(); go('policies'); }} />;
  }
  return (
    <main id="content">
      <Heading title={t.nav.policies}>
        {!readOnly.value && <Button look="primary" onClick={() => go('policies/new')}>{t.policies.create}</Button>}
      </Heading>
      <div class="stack">
        <Outcome />
        {(error || (id && id !== 'new' && data)) && <Notice tone="danger" role="alert">{error ?? t.policies.notFound}</Notice>}
        {(!data || id === 'new') && !error && <Loading />}
        {data?.length === 0 && <Empty title={t.policies.none}>{t.policies.noneMore}</Empty>}
        {!readOnly.value && data && (
          <section class="stack tight">
            <h2 class="small muted">{t.policies.templates}</h2>
            <div class="templates">
              {templates.map((template, i) => <a class="button small" key={template.name} href={address(`policies/new?template=${i}`)}>{template.name}</a>)}
            </div>
          </section>
        )}
        <ul class="stack">
          {data?.map((p) => (
            <li class="card stack tight" key={p.policyId}>
              <div class="row between">
                <h2><a href={address(`policies/${p.policyId}`)}><bdi>{p.policyName}</bdi></a></h2>
                <span class="row">
                  <Badge tone={p.effect === 'EFFECT_ALLOW' ? 'good' : 'danger'}>{p.effect === 'EFFECT_ALLOW' ? t.policies.allows : t.policies.denies}</Badge>
                  {!readOnly.value && <Button look="small danger" onClick={() => setRemoving(p)} label={t.policies.removeNamed(p.policyName)}>{t.remove}</Button>}
                </span>
              </div>
              {lately && <p class="small">{t.policies.lately(lately.requests, lately.said[p.policyId] ?? t.policies.notAsked)}</p>}
              {p.condition && <Expression label={t.policies.condition} text={p.condition} />}
              {p.consensus && <Expression label={t.policies.consensus} text={p.consensus} />}
              {p.time && <Expression label={t.policies.time} text={p.time} />}
              {p.notes && <p class="muted small">{p.notes}</p>}
              <span class="muted small"><Time at={p.updatedAt} /></span>
            </li>
          ))}
        </ul>
      </div>
      {removing && (
        <Confirm title={t.policies.removeTitle(removing.policyName)} yes={t.remove} onClose={() => setRemoving(undefined)} work={async () => {
          report(await decide('delete_policy', { policyId: removing.policyId }));
          again();
        }}>
          <p>{removing.effect === 'EFFECT_DENY' ? t.policies.removeDeny : t.policies.removeAllow}</p>
        </Confirm>
      )}
    </main>
  );
}

const Expression = ({ label, text }: { label: string; text: string }) => (
  <div>
    <div class="muted small">{label}</div>
    <div class="expression" title={text}>{named(text)}</div>
  </div>
);
