// Importing a wallet: its words are encrypted in this page.
import { useState } from 'preact/hooks';

import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Button, Dialog, Field } from '../../ui/parts';
import { importWallet } from '../../ui/transfer';
import { account, choices } from './formats';

export function Import({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [name, setName] = useState('');
  const [words, setWords] = useState('');
  const [format, setFormat] = useState<string>('ADDRESS_FORMAT_ETHEREUM');
  const run = useAction(async () => {
    await importWallet(name, words, [account(choices.find((c) => c.format === format)!, 0)]);
    onDone();
    onClose();
  });
  return (
    <Dialog title={t.wallets.importTitle} onClose={onClose}>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void run.run(); }}>
        <Field label={t.wallets.name} value={name} onInput={setName} problem={run.problem('walletName')} required />
        <Field label={t.wallets.phrase} value={words} onInput={setWords} hint={t.transfer.encrypted} area required problem={run.problem('encryptedBundle')} />
        <Field label={t.wallets.firstAccounts} value={format} onInput={setFormat} options={choices.map((c) => [c.format, c.name])} />
        <Failure action={run} />
        <div class="row">
          <Button look="primary" submit busy={run.busy}>{t.wallets.import}</Button>
          <Button onClick={onClose}>{t.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
