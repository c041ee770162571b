// Private keys that belong to no wallet.
import { useState } from 'preact/hooks';

import { type PrivateKey, type PrivateKeyParams } from '../../client/models';
import { act, ask, decide, readOnly } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Confirm } from '../../ui/confirm';
import { Export } from '../../ui/export';
import { useLive } from '../../ui/live';
import { Outcome, report } from '../../ui/outcome';
import { Address, Badge, Button, Dialog, Empty, Field, Heading, Id, Loading, Notice } from '../../ui/parts';
import { chainOf, choices } from '../wallets/formats';
import { SignTest } from '../wallets/sign';
import { Import } from './import';

type Open = { kind: 'create' | 'import' } | { kind: 'delete' | 'sign' | 'export'; key: PrivateKey } | undefined;

export function PrivateKeys() {
  const { data, error, again } = useLive(() => ask('list_private_keys', {}).then((r) => r.privateKeys), []);
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  return (
    <main id="content">
      <Heading title={t.nav.keys}>
        {!readOnly.value && !open && <Button onClick={() => setOpen({ kind: 'import' })}>{t.wallets.import}</Button>}
        {!readOnly.value && !open && <Button look="primary" onClick={() => setOpen({ kind: 'create' })}>{t.keys.create}</Button>}
      </Heading>
      <div class="stack">
        <Outcome />
        {error && <Notice tone="danger" role="alert">{error}</Notice>}
        {!data && !error && <Loading />}
        {data?.length === 0 && <Empty title={t.keys.none}>{t.keys.noneMore}</Empty>}
        <ul class="stack">
          {data?.map((k) => (
            <li class="card stack tight" key={k.privateKeyId}>
              <div class="row between">
                <h2><bdi>{k.privateKeyName}</bdi></h2>
                <span class="row">
                  <Badge>{k.curve.replace('CURVE_', '')}</Badge>
                  {k.exported && <Badge tone="caution">{t.wallets.exported}</Badge>}
                </span>
              </div>
              <Id id={k.privateKeyId} what={t.keys.id} />
              {k.addresses.map((a) => <div key={a.format}><span class="muted small">{chainOf(a.format ?? '')}</span><br /><Address address={a.address ?? ''} /></div>)}
              {!readOnly.value && (
                <div class="row">
                  <Button look="small" onClick={() => setOpen({ kind: 'sign', key: k })} label={t.keys.signWith(k.privateKeyName)}>{t.wallets.sign}</Button>
                  <Button look="small" onClick={() => setOpen({ kind: 'export', key: k })} label={t.keys.exportNamed(k.privateKeyName)}>{t.transfer.export}</Button>
                  <Button look="small danger" onClick={() => setOpen({ kind: 'delete', key: k })} label={t.keys.removeNamed(k.privateKeyName)}>{t.remove}</Button>
                </div>
              )}
            </li>
          ))}
        </ul>
      </div>
      {open?.kind === 'create' && <Create onClose={close} onDone={again} />}
      {open?.kind === 'import' && <Import onClose={close} onDone={again} />}
      {open?.kind === 'export' && <Export what={{ kind: 'key', id: open.key.privateKeyId }} name={open.key.privateKeyName} onClose={close} />}
      {open?.kind === 'sign' && <SignTest signWith={open.key.privateKeyId} format={open.key.addresses[0]?.format ?? (open.key.curve === 'CURVE_ED25519' ? 'ADDRESS_FORMAT_SOLANA' : '')} onClose={close} />}
      {open?.kind === 'delete' && (
        <Confirm title={t.keys.removeTitle(open.key.privateKeyName)} yes={t.remove} onClose={close} work={async () => {
          report(await decide('delete_private_keys', { privateKeyIds: [open.key.privateKeyId], deleteWithoutExport: true }));
          again();
        }}>
          <Notice tone="danger">{t.keys.removeWarning}</Notice>
        </Confirm>
      )}
    </main>
  );
}

function Create({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [name, setName] = useState('');
  const [format, setFormat] = useState<string>('ADDRESS_FORMAT_ETHEREUM');
  const create = useAction(async () => {
    const choice = choices.find((c) => c.format === format)!;
    const key: PrivateKeyParams = { privateKeyName: name, curve: choice.curve, privateKeyTags: [], addressFormats: [choice.format] };
    report(await act('create_private_keys', { privateKeys: [key] }));
    onDone();
    onClose();
  });
  return (
    <Dialog title={t.keys.create} onClose={onClose}>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void create.run(); }}>
        <Field label={t.keys.name} value={name} onInput={setName} problem={create.problem('privateKeyName')} required />
        <Field label={t.wallets.chain} value={format} onInput={setFormat} options={choices.map((c) => [c.format, c.name])} />
        <Failure action={create} />
        <div class="row">
          <Button look="primary" submit busy={create.busy}>{t.keys.create}</Button>
          <Button onClick={onClose}>{t.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
