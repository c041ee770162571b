// Wallets: the list, and one of them with its accounts.
import { useState } from 'preact/hooks';

import { address } from '../../router';
import { act, ask, readOnly } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { useLive } from '../../ui/live';
import { Outcome, report } from '../../ui/outcome';
import { Badge, Button, Dialog, Empty, Field, Heading, Id, Loading, Notice, Time } from '../../ui/parts';
import { account, choices } from './formats';
import { Import } from './import';
import { WalletScreen } from './wallet';

export const Wallets = ({ id }: { id: string }) => (id ? <WalletScreen key={id} id={id} /> : <List />);

function List() {
  const { data, error, again } = useLive(() => ask('list_wallets', {}).then((r) => r.wallets), []);
  const [open, setOpen] = useState<'create' | 'import'>();
  return (
    <main id="content">
      <Heading title={t.nav.wallets}>
        {!readOnly.value && !open && <Button onClick={() => setOpen('import')}>{t.wallets.import}</Button>}
        {!readOnly.value && !open && <Button look="primary" onClick={() => setOpen('create')}>{t.wallets.create}</Button>}
      </Heading>
      <div class="stack">
        <Outcome />
        {error && <Notice tone="danger" role="alert">{error}</Notice>}
        {!data && !error && <Loading />}
        {data?.length === 0 && <Empty title={t.wallets.none}>{t.wallets.noneMore}</Empty>}
        <ul class="cards">
          {data?.map((w) => (
            <li class="card" key={w.walletId}>
              <a class="whole" href={address(`wallets/${w.walletId}`)}><bdi>{w.walletName}</bdi></a>
              <span class="row">
                {w.imported && <Badge>{t.wallets.imported}</Badge>}
                {w.exported && <Badge tone="caution">{t.wallets.exported}</Badge>}
              </span>
              <span class="muted small"><Id id={w.walletId} what={t.wallets.id} /> <Time at={w.createdAt} /></span>
            </li>
          ))}
        </ul>
      </div>
      {open === 'create' && <Create onClose={() => setOpen(undefined)} onCreated={again} />}
      {open === 'import' && <Import onClose={() => setOpen(undefined)} onDone={again} />}
    </main>
  );
}

function Create({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [name, setName] = useState('');
  const [words, setWords] = useState('12');
  const [chosen, setChosen] = useState<string[]>(['ADDRESS_FORMAT_ETHEREUM']);
  const create = useAction(async () => {
    const accounts = choices.filter((c) => chosen.includes(c.format)).map((c) => account(c, 0));
    report(await act('create_wallet', { walletName: name, accounts, mnemonicLength: Number(words) as 12 }));
    onCreated();
    onClose();
  });
  const toggle = (format: string) => setChosen(chosen.includes(format) ? chosen.filter((f) => f !== format) : [...chosen, format]);
  return (
    <Dialog title={t.wallets.create} onClose={onClose}>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void create.run(); }}>
        <Field label={t.wallets.name} value={name} onInput={setName} problem={create.problem('walletName')} required />
        <fieldset class="plain">
          <legend class="legend">{t.wallets.firstAccounts}</legend>
          <div class="checks">
            {choices.slice(0, 6).map((c) => (
              <label key={c.format}>
                <input type="checkbox" checked={chosen.includes(c.format)} onChange={() => toggle(c.format)} /> {c.name}
              </label>
            ))}
          </div>
          <p class="hint">{t.wallets.moreLater}</p>
        </fieldset>
        <Field label={t.wallets.words} value={words} onInput={setWords} options={['12', '15', '18', '21', '24'].map((n) => [n, n])} />
        <Failure action={create} />
        <div class="row">
          <Button look="primary" submit busy={create.busy}>{t.wallets.create}</Button>
          <Button onClick={onClose}>{t.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
