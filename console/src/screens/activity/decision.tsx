// The decision as a tree: each policy with what it says, and below it the value of
// every part of its expressions.
import { type Explanation, limitWords } from '../../approval/standing';
import { waits } from '../../approval/waits';
import { book } from '../../book/book';
import { type ExplainedPolicy, type ExplainedStep, type View } from '../../client/models';
import { ask } from '../../session/session';
import { t } from '../../text';
import { shown } from '../../text/forms';
import { useLive } from '../../ui/live';
import { Badge } from '../../ui/parts';

const tone = (outcome: string, denies?: boolean) =>
  denies ? 'danger' : outcome === 'OUTCOME_ALLOW' ? 'good' : outcome === 'OUTCOME_REQUIRES_CONSENSUS' ? 'caution' : undefined;

export function Decision({ activity, explanation }: { activity: View; explanation: Explanation | undefined }) {
  const open = waits(activity);
  return (
    <section class="card stack">
      <h2>{t.activity.decision}</h2>
      {open && explanation ? <Tree explanation={explanation} /> : <Recorded activity={activity} />}
      {!open && explanation && (
        <>
          <h3>{t.activity.current}</h3>
          <Tree explanation={explanation} />
        </>
      )}
    </section>
  );
}

export function Tree({ explanation }: { explanation: Explanation }) {
  const { rootQuorum, policies, controls } = explanation;
  return (
    <div class="stack">
      <p class="muted">{t.activity.quorum(rootQuorum.approved.length, rootQuorum.threshold)}</p>
      <div class="tree">
        {policies.map((p, i) => <PolicySays key={p.policyId ?? i} policy={p} />)}
        {policies.length === 0 && <p class="muted">{t.activity.noPolicies}</p>}
      </div>
      {controls && controls.length > 0 && (
        <div>
          <h3 class="small muted">{t.activity.limits}</h3>
          <ul class="stack tight">
            {controls.map((c) => (
              <li key={c.velocityControlId} class="row">
                <code>controls.{c.identifier}</code>
                <Badge tone={c.holds ? 'good' : 'danger'}>{c.holds ? t.activity.holds : t.activity.exceeded}</Badge>
                <span class="muted">{limitWords(c)}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function PolicySays({ policy }: { policy: ExplainedPolicy }) {
  return (
    <details open={policy.outcome === 'OUTCOME_REQUIRES_CONSENSUS' || policy.denies}>
      <summary>
        <strong><bdi>{policy.policyName}</bdi></strong>
        <Badge tone={tone(policy.outcome, policy.denies)}>{t.activity.outcomes[policy.outcome] ?? policy.outcome}</Badge>
      </summary>
      {policy.reason && <p class="problem">{policy.reason}</p>}
      <Steps label={t.activity.condition} steps={policy.condition} />
      <Steps label={t.activity.consensus} steps={policy.consensus} />
      <Steps label={t.activity.timeExpression} steps={policy.time} />
    </details>
  );
}

// named shows users by their names, where an expression has their ids.
export const named = (text: string): string => text.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => shown(book.value.users.get(id) ?? book.value.wallets.get(id) ?? id));

// A part that is only a name of something larger, or a value itself, says nothing.
const telling = (s: ExplainedStep): boolean => s.error !== undefined || !(s.value === s.source || /^\[|^[A-Z]\w*$/.test(s.value ?? ''));

function Steps({ label, steps: all }: { label: string; steps: ExplainedStep[] }) {
  const steps = all.filter(telling);
  if (steps.length === 0) return null;
  return (
    <div>
      <h3 class="small muted">{label}</h3>
      <ul class="steps">
        {steps.map((s, i) => (
          <li key={i}>
            <span>{s.bound && <span class="muted">{s.bound}: </span>}{named(s.source)}</span>
            <span class={s.value === 'true' ? 'yes' : s.value === 'false' || s.error ? 'no' : 'muted'}>{s.error ?? named(s.value ?? '')}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

// Recorded is what the policies said when the last vote was cast.
function Recorded({ activity }: { activity: View }) {
  const { data } = useLive(() => ask('get_policy_evaluations', { activityId: activity.id }), [activity.id, activity.votes.length], 'once');
  const last = data?.policyEvaluations[data.policyEvaluations.length - 1]?.policyEvaluations ?? [];
  if (!data) return null;
  return (
    <div class="stack">
      <p class="muted">{last.length > 0 ? t.activity.evaluated : t.activity.noPolicies}</p>
      <ul class="stack tight">
        {last.map((e) => (
          <li key={e.policyId} class="row">
            <strong><bdi>{book.value.policies.get(e.policyId)?.policyName ?? e.policyId}</bdi></strong>
            <Badge tone={tone(e.outcome)}>{t.activity.outcomes[e.outcome] ?? e.outcome}</Badge>
            {e.reason && <span class="muted">{e.reason}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}
