// One wallet: its accounts, and what can be done with it.
import { useState } from 'preact/hooks';

import { type WalletAccount } from '../../client/models';
import { go } from '../../router';
import { act, ask, decide, readOnly } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Confirm } from '../../ui/confirm';
import { Export } from '../../ui/export';
import { useLive } from '../../ui/live';
import { Outcome, report } from '../../ui/outcome';
import { Address, Badge, Button, Dialog, Field, Id, Loading, Notice } from '../../ui/parts';
import { Qr } from '../../ui/qr';
import { AccountList, type Chosen, useAccounts } from './accounts';
import { account, chainOf, choices } from './formats';
import { SignTest } from './sign';

type Open = { kind: 'add' | 'rename' | 'export' | 'delete' } | Chosen | undefined;

export function WalletScreen({ id }: { id: string }) {
  const { data: wallet, error, again } = useLive(() => ask('get_wallet', { walletId: id }).then((r) => r.wallet), [id]);
  const [turn, setTurn] = useState(0);
  const list = useAccounts(id, turn);
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const changed = () => {
    again();
    setTurn((n) => n + 1);
  };
  return (
    <main id="content">
      <div class="screen-head">
        <h1 tabIndex={-1}><bdi>{wallet?.walletName ?? t.nav.wallets}</bdi></h1>
        {!readOnly.value && wallet && (
          <div class="row">
            <Button look="primary" onClick={() => setOpen({ kind: 'add' })}>{t.wallets.addAccounts}</Button>
            <Button onClick={() => setOpen({ kind: 'rename' })}>{t.wallets.rename}</Button>
            <Button onClick={() => setOpen({ kind: 'export' })}>{t.transfer.export}</Button>
            <Button look="danger" onClick={() => setOpen({ kind: 'delete' })}>{t.wallets.remove}</Button>
          </div>
        )}
      </div>
      <div class="stack">
        <Outcome />
        {(error ?? list.error) && <Notice tone="danger" role="alert">{error ?? list.error}</Notice>}
        {wallet && <p class="row muted"><Id id={id} what={t.wallets.id} /> {wallet.imported && <Badge>{t.wallets.imported}</Badge>} {wallet.exported && <Badge tone="caution">{t.wallets.exported}</Badge>}</p>}
        {!list.all && !list.error && <Loading />}
        {list.all?.length === 0 && <p class="muted">{t.wallets.noAccounts}</p>}
        {list.all && list.all.length > 0 && <AccountList all={list.all} complete={list.complete} onChoose={setOpen} />}
      </div>
      {open?.kind === 'add' && <AddAccounts walletId={id} known={list.all ?? []} onClose={close} onDone={changed} />}
      {open?.kind === 'rename' && <Rename walletId={id} name={wallet?.walletName ?? ''} onClose={close} onDone={changed} />}
      {open?.kind === 'delete' && (
        <Confirm title={t.wallets.removeTitle(wallet?.walletName ?? '')} yes={t.wallets.remove} onClose={close} work={async () => {
          report(await decide('delete_wallets', { walletIds: [id], deleteWithoutExport: true }));
          go('wallets');
        }}>
          <Notice tone="danger">{t.wallets.removeWarning}</Notice>
        </Confirm>
      )}
      {open?.kind === 'export' && <Export what={{ kind: 'wallet', id }} name={wallet?.walletName ?? ''} onClose={close} />}
      {open?.kind === 'qr' && (
        <Dialog title={chainOf(open.account.addressFormat)} onClose={close}>
          <Qr text={open.account.address} />
          <Address address={open.account.address} />
          <Button onClick={close}>{t.close}</Button>
        </Dialog>
      )}
      {open?.kind === 'sign' && <SignTest signWith={open.account.address} format={open.account.addressFormat} onClose={close} />}
    </main>
  );
}

function AddAccounts({ walletId, known, onClose, onDone }: { walletId: string; known: WalletAccount[]; onClose: () => void; onDone: () => void }) {
  const [format, setFormat] = useState<string>('ADDRESS_FORMAT_ETHEREUM');
  const [count, setCount] = useState('1');
  const add = useAction(async () => {
    const choice = choices.find((c) => c.format === format)!;
    const paths = new Set(known.filter((a) => a.addressFormat === format).map((a) => a.path));
    const accounts = [];
    for (let i = 0; accounts.length < Math.max(1, Math.min(100, Number(count) || 1)); i++) {
      if (!paths.has(choice.path(i))) accounts.push(account(choice, i));
    }
    report(await act('create_wallet_accounts', { walletId, accounts }));
    onDone();
    onClose();
  });
  return (
    <Dialog title={t.wallets.addAccounts} onClose={onClose}>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void add.run(); }}>
        <Field label={t.wallets.chain} value={format} onInput={setFormat} options={choices.map((c) => [c.format, c.name])} />
        <Field label={t.wallets.howMany} value={count} onInput={setCount} type="number" hint={t.wallets.nextPaths} />
        <Failure action={add} />
        <div class="row">
          <Button look="primary" submit busy={add.busy}>{t.wallets.addAccounts}</Button>
          <Button onClick={onClose}>{t.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

function Rename({ walletId, name, onClose, onDone }: { walletId: string; name: string; onClose: () => void; onDone: () => void }) {
  const [next, setNext] = useState(name);
  const rename = useAction(async () => {
    report(await act('update_wallet', { walletId, walletName: next }));
    onDone();
    onClose();
  });
  return (
    <Dialog title={t.wallets.rename} onClose={onClose}>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void rename.run(); }}>
        <Field label={t.wallets.name} value={next} onInput={setNext} problem={rename.problem('walletName')} required />
        <Failure action={rename} />
        <div class="row">
          <Button look="primary" submit busy={rename.busy}>{t.save}</Button>
          <Button onClick={onClose}>{t.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
