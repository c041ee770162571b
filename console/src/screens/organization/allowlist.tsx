// From which networks requests are answered.
import { useState } from 'preact/hooks';

import { type IPAllowlist } from '../../client/models';
import { ask, decide, readOnly } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Confirm } from '../../ui/confirm';
import { useLive } from '../../ui/live';
import { report } from '../../ui/outcome';
import { Badge, Button, Field, Notice } from '../../ui/parts';

const lines = (rules: IPAllowlist['rules']) => rules.map((r) => [r.cidr, r.label].filter(Boolean).join(' ')).join('\n');

// Each line is a network, and perhaps a name after it.
const rulesOf = (text: string) =>
  text.split('\n').map((l) => l.trim()).filter(Boolean).map((l) => {
    const [cidr, ...label] = l.split(/\s+/);
    return { cidr, ...(label.length > 0 && { label: label.join(' ') }) };
  });

export function Allowlist() {
  const { data, error, again } = useLive(() => ask('get_ip_allowlist', {}).then((r) => r.allowlist), []);
  if (error) return <Notice tone="danger" role="alert">{error}</Notice>;
  if (!data) return null;
  return <Editor key={JSON.stringify(data)} allowlist={data} onDone={again} />;
}

function Editor({ allowlist, onDone }: { allowlist: IPAllowlist; onDone: () => void }) {
  const before = lines(allowlist.rules);
  const [text, setText] = useState(before);
  const [asking, setAsking] = useState(false);
  const empty = text.trim() === '';
  const save = useAction(async () => {
    const rules = rulesOf(text);
    report(rules.length > 0 ? await decide('set_ip_allowlist', { enabled: true, rules }) : await decide('remove_ip_allowlist', {}));
    onDone();
  });
  return (
    <section class="card stack">
      <div>
        <div class="row">
          <h2>{t.organization.allowlist}</h2>
          <Badge tone={allowlist.enabled ? 'good' : undefined}>{allowlist.enabled ? t.organization.on : t.organization.off}</Badge>
        </div>
        <p class="muted">{t.organization.allowlistAbout}</p>
      </div>
      <Field label={t.organization.networks} value={text} onInput={setText} hint={t.organization.networksHint} problem={save.problem('rules')} area />
      {!save.problem('rules') && <Failure action={save} />}
      {!readOnly.value && <div><Button look="danger" busy={save.busy} disabled={text.trim() === before} onClick={() => setAsking(true)}>{t.organization.changeAllowlist}</Button></div>}
      {asking && (
        <Confirm title={t.organization.changeAllowlist} yes={t.organization.changeAllowlist} onClose={() => setAsking(false)} work={() => save.run()}>
          <Notice tone="danger">{empty ? t.organization.allowlistEnd : t.organization.allowlistWarning}</Notice>
        </Confirm>
      )}
    </section>
  );
}
