// Multi-factor policies: what a user has to prove beside the stamp of a request.
import { useState } from 'preact/hooks';

import { type AuthenticationMethod, type MfaPolicy } from '../../client/models';
import { ask, decide, readOnly } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Confirm } from '../../ui/confirm';
import { useLive } from '../../ui/live';
import { report } from '../../ui/outcome';
import { Button, Dialog, Field, Notice } from '../../ui/parts';

type Method = AuthenticationMethod['type'];

const methods = Object.keys(t.factors.methods) as Method[];

const stepInWords = (any: AuthenticationMethod[]) => t.factors.anyOf(any.map((m) => t.factors.methods[m.type]));

export function Factors({ userId }: { userId: string }) {
  const { data, error, again } = useLive(() => ask('get_mfa_policies', { userId }).then((r) => r.mfaPolicies), [userId]);
  const [open, setOpen] = useState<'create' | MfaPolicy>();
  const close = () => setOpen(undefined);
  const sorted = [...(data ?? [])].sort((a, b) => a.order - b.order);
  return (
    <section class="card stack">
      <div class="row between">
        <h2>{t.factors.title}</h2>
        {!readOnly.value && data && <Button onClick={() => setOpen('create')}>{t.factors.create}</Button>}
      </div>
      {error && <Notice tone="danger" role="alert">{error}</Notice>}
      {data && sorted.length === 0 && <p class="muted">{t.factors.none}</p>}
      {sorted.length > 1 && <p class="muted">{t.factors.firstCounts}</p>}
      <ol class="accounts">
        {sorted.map((policy) => (
          <li key={policy.mfaPolicyId}>
            <div class="stack tight">
              <strong><bdi>{policy.mfaPolicyName}</bdi></strong>
              <div>{t.factors.steps(policy.requiredAuthenticationMethods.map((step) => stepInWords(step.any)))}</div>
              <div class="expression">{policy.condition}</div>
              {policy.notes && <div class="muted small"><bdi>{policy.notes}</bdi></div>}
            </div>
            {!readOnly.value && <Button look="small danger" label={t.users.removeNamed(policy.mfaPolicyName)} onClick={() => setOpen(policy)}>{t.remove}</Button>}
          </li>
        ))}
      </ol>
      {open === 'create' && <Create userId={userId} order={Math.max(-1, ...sorted.map((p) => p.order)) + 1} onClose={close} onDone={again} />}
      {open && open !== 'create' && (
        <Confirm title={t.users.removeCredential(open.mfaPolicyName)} yes={t.remove} onClose={close} work={async () => {
          report(await decide('delete_mfa_policy', { userId, mfaPolicyId: open.mfaPolicyId }));
          again();
        }}>
          <p>{t.factors.removeAbout}</p>
        </Confirm>
      )}
    </section>
  );
}

const own = 'own';

function Create({ userId, order, onClose, onDone }: { userId: string; order: number; onClose: () => void; onDone: () => void }) {
  const [name, setName] = useState('');
  const [when, setWhen] = useState('true');
  const [condition, setCondition] = useState('');
  const [steps, setSteps] = useState<Method[][]>([['AUTHENTICATION_TYPE_PASSKEY'], ['AUTHENTICATION_TYPE_API_KEY']]);
  const toggle = (at: number, method: Method) =>
    setSteps(steps.map((step, i) => (i !== at ? step : step.includes(method) ? step.filter((m) => m !== method) : [...step, method])));
  const create = useAction(async () => {
    report(await decide('create_mfa_policy', {
      userId, mfaPolicyName: name, condition: when === own ? condition : when, order,
      requiredAuthenticationMethods: steps.map((step) => ({ any: step.map((type) => ({ type })) })),
    }));
    onDone();
    onClose();
  });
  return (
    <Dialog title={t.factors.create} onClose={onClose}>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void create.run(); }}>
        <Field label={t.factors.name} value={name} onInput={setName} problem={create.problem('mfaPolicyName')} required />
        <Field label={t.factors.when} value={when} onInput={setWhen} options={[...t.factors.whens, [own, t.factors.ownCondition]]} />
        {when === own && <Field label={t.policies.condition} value={condition} onInput={setCondition} hint={t.factors.conditionHint} problem={create.problem('condition')} area required />}
        {steps.map((step, at) => (
          <fieldset class="plain" key={at}>
            <legend class="legend">{t.factors.step(at + 1)}</legend>
            <div class="checks">
              {methods.map((method) => (
                <label key={method}><input type="checkbox" checked={step.includes(method)} onChange={() => toggle(at, method)} /> {t.factors.methods[method]}</label>
              ))}
            </div>
          </fieldset>
        ))}
        <div class="row">
          <Button look="small" onClick={() => setSteps([...steps, []])}>{t.factors.addStep}</Button>
          {steps.length > 1 && <Button look="small" onClick={() => setSteps(steps.slice(0, -1))}>{t.factors.removeStep}</Button>}
        </div>
        <Notice tone="caution">{t.factors.warning}</Notice>
        <Failure action={create} />
        <div class="row"><Button look="primary" submit busy={create.busy}>{t.factors.create}</Button><Button onClick={onClose}>{t.cancel}</Button></div>
      </form>
    </Dialog>
  );
}
