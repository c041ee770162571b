// Interfaces of contracts: by them policies and approvers read what a call does.
import { useState } from 'preact/hooks';

import { type Activities } from '../../client/activities';
import { type Queries } from '../../client/queries';
import { parseInterface, signature } from '../../decode/abi';
import { ask, decide, readOnly } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Confirm } from '../../ui/confirm';
import { DropFile } from '../../ui/file';
import { useLive } from '../../ui/live';
import { report } from '../../ui/outcome';
import { Address, Badge, Button, Dialog, Field, Notice } from '../../ui/parts';

type Contract = Queries['list_smart_contract_interfaces']['reply']['smartContractInterfaces'][number];
type Kind = Activities['create_smart_contract_interface']['parameters']['type'];

const kinds = Object.keys(t.contracts.kinds) as Kind[];

const addresses: Record<Kind, RegExp> = {
  SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM: /^0x[0-9a-f]{40}$/i,
  SMART_CONTRACT_INTERFACE_TYPE_SOLANA: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/,
};

// functionsOf are what calls can be read by; the server says what is wrong with a text.
function functionsOf(kind: Kind, text: string): string[] {
  if (kind === 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM') return parseInterface(text).map(signature);
  try {
    const { instructions } = JSON.parse(text) as { instructions?: Array<{ name?: string }> };
    return (instructions ?? []).map((i) => String(i.name));
  } catch {
    return [];
  }
}

export function Contracts() {
  const { data, error, again } = useLive(() => ask('list_smart_contract_interfaces', {}).then((r) => r.smartContractInterfaces), []);
  const [open, setOpen] = useState<'create' | Contract>();
  const close = () => setOpen(undefined);
  return (
    <section class="card stack">
      <div class="stack tight">
        <div class="row between">
          <h2>{t.contracts.title}</h2>
          {!readOnly.value && data && <Button onClick={() => setOpen('create')}>{t.contracts.create}</Button>}
        </div>
        <p class="muted">{t.contracts.about}</p>
      </div>
      {error && <Notice tone="danger" role="alert">{error}</Notice>}
      {data?.length === 0 && <p class="muted">{t.contracts.none}</p>}
      {data && data.length > 0 && (
        <ul class="accounts">
          {data.map((c) => (
            <li key={c.smartContractInterfaceId}>
              <div class="stack tight">
                <div class="row">
                  <strong><bdi>{c.label}</bdi></strong>
                  <Badge>{t.contracts.kinds[c.type as Kind] ?? c.type}</Badge>
                  {c.decimals && <Badge tone="info">{t.contracts.unit(c.symbol ?? '', c.decimals)}</Badge>}
                </div>
                <Address address={c.smartContractAddress} />
                <Functions names={functionsOf(c.type as Kind, c.smartContractInterface)} />
                {c.notes && <div class="muted small"><bdi>{c.notes}</bdi></div>}
              </div>
              {!readOnly.value && <Button look="small danger" label={t.users.removeNamed(c.label)} onClick={() => setOpen(c)}>{t.remove}</Button>}
            </li>
          ))}
        </ul>
      )}
      {open === 'create' && <Create onClose={close} onDone={again} />}
      {open && open !== 'create' && (
        <Confirm title={t.users.removeCredential(open.label)} yes={t.remove} onClose={close} work={async () => {
          report(await decide('delete_smart_contract_interface', { smartContractInterfaceId: open.smartContractInterfaceId }));
          again();
        }}>
          <p>{t.contracts.removeAbout}</p>
        </Confirm>
      )}
    </section>
  );
}

const Functions = ({ names }: { names: string[] }) => (
  <details class="small">
    <summary>{t.contracts.functions(names.length)}</summary>
    <ul>{names.map((name) => <li key={name}><code>{name}</code></li>)}</ul>
  </details>
);

const maxFile = 1_000_000;

function Create({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [label, setLabel] = useState('');
  const [kind, setKind] = useState<Kind>(kinds[0]);
  const [address, setAddress] = useState('');
  const [text, setText] = useState('');
  const [decimals, setDecimals] = useState('');
  const [symbol, setSymbol] = useState('');
  const [notes, setNotes] = useState('');
  const create = useAction(async () => {
    report(await decide('create_smart_contract_interface', {
      label, type: kind, smartContractAddress: address.trim(), smartContractInterface: text,
      ...(decimals.trim() && { decimals: decimals.trim() }), ...(symbol.trim() && { symbol: symbol.trim() }), ...(notes && { notes }),
    }));
    onDone();
    onClose();
  });
  // Of a compiler's file, the member abi is the interface.
  const take = async (file: File | undefined) => {
    if (!file || file.size > maxFile) return;
    const read = await file.text();
    const whole = /^\s*\{/.test(read) && kind === 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM' ? parsed(read)?.abi : undefined;
    setText(whole ? JSON.stringify(whole, undefined, 1) : read);
  };
  const names = functionsOf(kind, text);
  const problem = create.problem;
  const strange = address.trim() !== '' && !addresses[kind].test(address.trim());
  return (
    <Dialog title={t.contracts.create} onClose={onClose}>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void create.run(); }}>
        <Field label={t.contracts.label} value={label} onInput={setLabel} problem={problem('label')} required />
        <Field label={t.contracts.kind} value={kind} onInput={(v) => setKind(v as Kind)} options={kinds.map((k) => [k, t.contracts.kinds[k]])} />
        <Field label={t.contracts.address} value={address} onInput={setAddress} problem={problem('smartContractAddress') ?? (strange ? t.contracts.strangeAddress(t.contracts.kinds[kind]) : undefined)} required />
        <Field label={t.contracts.text[kind]} value={text} onInput={setText} hint={text.trim() ? t.contracts.read(names.length) : t.contracts.textHint[kind]} problem={problem('smartContractInterface')} area required />
        <DropFile label={t.contracts.file} onFile={(f) => void take(f)} />
        {names.length > 0 && <Functions names={names} />}
        <Field label={t.contracts.decimals} value={decimals} onInput={setDecimals} hint={t.contracts.decimalsHint} problem={problem('decimals')} />
        <Field label={t.contracts.symbol} value={symbol} onInput={setSymbol} problem={problem('symbol')} />
        <Field label={t.policies.notes} value={notes} onInput={setNotes} problem={problem('notes')} />
        <Failure action={create} />
        <div class="row"><Button look="primary" submit busy={create.busy}>{t.contracts.create}</Button><Button onClick={onClose}>{t.cancel}</Button></div>
      </form>
    </Dialog>
  );
}

function parsed(text: string): { abi?: unknown } | undefined {
  try {
    return JSON.parse(text) as { abi?: unknown };
  } catch {
    return undefined;
  }
}
