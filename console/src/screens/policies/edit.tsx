// The editor of a policy: its findings come from the server as it is written, and it
// can be tried on a request before it is saved.
import { useEffect, useState } from 'preact/hooks';

import { Refusal } from '../../client/client';
import { type Policy } from '../../client/models';
import { address } from '../../router';
import { ask, decide, readOnly } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Outcome, report } from '../../ui/outcome';
import { Button, Field, Heading, Notice } from '../../ui/parts';
import { Backtest } from './backtest';
import { Cases } from './cases';
import { Expression } from './expression';
import { alone } from './supposed';
import { type Draft, templates } from './templates';
import { Try } from './try';

const empty: Draft = { policyName: '', effect: 'EFFECT_ALLOW', condition: '', consensus: '', time: '', notes: '' };

const draftOf = (p: Policy): Draft => ({
  policyName: p.policyName, effect: p.effect, condition: p.condition, consensus: p.consensus, time: p.time ?? '', notes: p.notes,
});

const expressions = ({ condition, consensus, time }: Draft) => ({ ...(condition && { condition }), ...(consensus && { consensus }), ...(time && { time }) });

// check asks the server what it makes of the expressions: they are supposed for a
// request that changes nothing.
async function check(draft: Draft): Promise<string | undefined> {
  if (!draft.condition && !draft.consensus && !draft.time) return undefined;
  try {
    await ask('explain', {
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG', parameters: { userTagName: 'x', userIds: [] },
      policies: alone(draft),
    } as never, 1);
    return undefined;
  } catch (error) {
    return error instanceof Refusal ? (error.fields[0]?.text ?? error.message) : undefined;
  }
}

function useFindings(draft: Draft): string | undefined {
  const [found, setFound] = useState<string>();
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => void check(draft).then((f) => current && setFound(f)), 350);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [draft.condition, draft.consensus, draft.time, draft.effect]);
  return found;
}

interface EditorProps {
  policy?: Policy;
  draft?: Draft;
  onDone: () => void;
}

export function Editor({ policy, draft: first, onDone }: EditorProps) {
  const [draft, setDraft] = useState<Draft>(first ?? (policy ? draftOf(policy) : empty));
  const set = (name: keyof Draft) => (value: string) => setDraft((d) => ({ ...d, [name]: value }));
  const finding = useFindings(draft);
  const save = useAction(async () => {
    const done = policy
      ? await decide('update_policy', {
          policyId: policy.policyId, policyName: draft.policyName, policyEffect: draft.effect,
          policyCondition: draft.condition, policyConsensus: draft.consensus, policyNotes: draft.notes,
          ...((draft.time || policy.time) && { time: draft.time }),
        } as never)
      : await decide('create_policy', { policyName: draft.policyName, effect: draft.effect, notes: draft.notes, ...expressions(draft) });
    report(done);
    onDone();
  });
  return (
    <main id="content">
      <Heading title={policy ? policy.policyName : t.policies.create}>
        <a class="button" href={address('policies')}>{t.policies.all}</a>
      </Heading>
      <div class="stack">
        <Outcome />
        {!policy && (
          <div class="templates">
            {templates.map((template, i) => <a class="button small" key={template.name} href={address(`policies/new?template=${i}`)}>{template.name}</a>)}
          </div>
        )}
        <form class="card stack" onSubmit={(e) => { e.preventDefault(); void save.run(); }}>
          <Field label={t.policies.name} value={draft.policyName} onInput={set('policyName')} problem={save.problem('policyName')} required />
          <Field label={t.policies.effect} value={draft.effect} onInput={set('effect')} options={[['EFFECT_ALLOW', t.policies.allow], ['EFFECT_DENY', t.policies.deny]]} />
          <Expression label={t.policies.condition} of="condition" value={draft.condition} onInput={set('condition')} hint={t.policies.conditionHint} />
          <Expression label={t.policies.consensus} of="consensus" value={draft.consensus} onInput={set('consensus')} hint={t.policies.consensusHint} />
          <Expression label={t.policies.time} of="time" value={draft.time} onInput={set('time')} hint={t.policies.timeHint} />
          <Field label={t.policies.notes} value={draft.notes} onInput={set('notes')} />
          <div role="status">{finding && <Notice tone="danger">{finding}</Notice>}</div>
          <Failure action={save} />
          {!readOnly.value && (
            <div class="row">
              <Button look="primary" submit busy={save.busy}>{policy ? t.save : t.policies.create}</Button>
              <a class="button" href={address('policies')}>{t.cancel}</a>
            </div>
          )}
        </form>
        {policy && <Changes before={draftOf(policy)} after={draft} />}
        <Backtest draft={draft} policyId={policy?.policyId} />
        <Try draft={draft} />
        <Cases draft={draft} policyId={policy?.policyId} />
      </div>
    </main>
  );
}

// Changes shows what saving would change.
function Changes({ before, after }: { before: Draft; after: Draft }) {
  const changed = (Object.keys(before) as Array<keyof Draft>).filter((k) => before[k] !== after[k]);
  if (changed.length === 0) return null;
  return (
    <section class="card stack">
      <h2>{t.policies.changes}</h2>
      {changed.map((k) => (
        <div key={k} class="stack tight">
          <h3>{t.policies.fields[k]}</h3>
          <div class="expression removed"><del>{before[k] || '–'}</del></div>
          <div class="expression added"><ins>{after[k] || '–'}</ins></div>
        </div>
      ))}
    </section>
  );
}
