// Importing a private key: it is encrypted in this page.
import { useState } from 'preact/hooks';

import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Button, Dialog, Field } from '../../ui/parts';
import { importKey } from '../../ui/transfer';
import { choices } from '../wallets/formats';

export function Import({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [name, setName] = useState('');
  const [key, setKey] = useState('');
  const [format, setFormat] = useState<string>('ADDRESS_FORMAT_ETHEREUM');
  const run = useAction(async () => {
    const choice = choices.find((c) => c.format === format)!;
    await importKey(name, key, choice.curve, choice.format);
    onDone();
    onClose();
  });
  return (
    <Dialog title={t.keys.importTitle} onClose={onClose}>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void run.run(); }}>
        <Field label={t.keys.name} value={name} onInput={setName} problem={run.problem('privateKeyName')} required />
        <Field label={t.keys.digits} value={key} onInput={setKey} type="password" hint={t.transfer.encrypted} required problem={run.problem('key') ?? run.problem('encryptedBundle')} />
        <Field label={t.wallets.chain} value={format} onInput={setFormat} options={choices.map((c) => [c.format, c.name])} />
        {!run.problem('key') && <Failure action={run} />}
        <div class="row">
          <Button look="primary" submit busy={run.busy}>{t.wallets.import}</Button>
          <Button onClick={onClose}>{t.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
