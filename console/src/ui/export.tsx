// Exporting: sealed to a key, or shown once, after a warning.
import { useState } from 'preact/hooks';

import { t } from '../text';
import { Failure, useAction } from './action';
import { Button, Copy, Dialog, Field, Notice } from './parts';
import { type Exported, exportHere, exportTo } from './transfer';

export function Export({ what, name, onClose }: { what: Exported; name: string; onClose: () => void }) {
  const [way, setWay] = useState<'here' | 'key'>('key');
  const [key, setKey] = useState('');
  const [secret, setSecret] = useState<string>();
  const run = useAction(async () => setSecret(way === 'here' ? await exportHere(what) : await exportTo(what, key)));
  return (
    <Dialog title={t.transfer.exportTitle(name)} wide onClose={onClose}>
      {secret ? (
        <div class="stack">
          <p>{way === 'here' ? t.transfer.shown : t.transfer.sealed}</p>
          <pre tabIndex={0} data-testid="exported">{secret}</pre>
          <div class="row"><Copy text={secret} what={t.transfer.export} /><Button look="primary" onClick={onClose}>{t.close}</Button></div>
        </div>
      ) : (
        <form class="stack" onSubmit={(e) => { e.preventDefault(); void run.run(); }}>
          <Field label={t.transfer.way} value={way} onInput={(v) => setWay(v as 'here')} options={[['key', t.transfer.toKey], ['here', t.transfer.here]]} />
          {way === 'key'
            ? <Field label={t.transfer.target} value={key} onInput={setKey} hint={t.transfer.targetHint} problem={run.problem('targetPublicKey')} required />
            : <Notice tone="danger">{t.transfer.hereWarning}</Notice>}
          <Notice tone="caution">{t.transfer.exportWarning}</Notice>
          <Failure action={run} />
          <div class="row">
            <Button look="danger" submit busy={run.busy}>{t.transfer.export}</Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
