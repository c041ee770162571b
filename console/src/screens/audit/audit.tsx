// The log: how far it is, who signed that, and whether a receipt holds.
import { useState } from 'preact/hooks';

import { hex } from '../../client/bytes';
import { damaged, notReady } from '../../client/client';
import { ProvenReceipt } from '../../log/proven';
import { newestCheckpoint, publishedKeys } from '../../log/published';
import { parseReceipt, type Proven, verifyReceipt } from '../../log/receipt';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { DropFile } from '../../ui/file';
import { useLive } from '../../ui/live';
import { Button, Copy, Field, Heading, Loading, Notice, Time } from '../../ui/parts';

export const Audit = () => (
  <main id="content">
    <Heading title={t.nav.audit} />
    <div class="stack">
      <Head />
      <Integrity />
      <Verify />
    </div>
  </main>
);

function Head() {
  const { data, error } = useLive(newestCheckpoint, [], 'often');
  return (
    <section class="card stack">
      <h2>{t.audit.log}</h2>
      <p class="muted">{t.audit.about}</p>
      {error && <Notice tone="danger" role="alert">{error}</Notice>}
      {!data && !error && <Loading />}
      {data && (
        <>
          <Notice tone="good">{t.audit.signed}</Notice>
          <dl class="facts">
            <dt>{t.receipt.log}</dt>
            <dd><code>{data.origin}</code></dd>
            <dt>{t.audit.size}</dt>
            <dd>{data.size.toLocaleString('en')}</dd>
            <dt>{t.audit.root}</dt>
            <dd><code>{hex(data.root)}</code><Copy text={hex(data.root)} what={t.audit.root} /></dd>
            <dt>{t.audit.witnesses}</dt>
            <dd><Witnesses names={data.signers.filter((name) => name !== data.origin)} /></dd>
            <dt>{t.audit.keys}</dt>
            <dd>
              {data.keys.flatMap((k) => k.verifierKeys).map((key) => (
                <div key={key}><code title={key}>{key.length > 120 ? key.slice(0, 120) + '…' : key}</code><Copy text={key} what={t.audit.key} /></div>
              ))}
            </dd>
          </dl>
        </>
      )}
    </section>
  );
}

const Witnesses = ({ names }: { names: string[] }) => (
  <>
    {names.map((name) => <div key={name}><code>{name}</code></div>)}
    <span class="muted small">{names.length > 0 ? t.audit.cosigned : t.audit.notCosigned}</span>
  </>
);

// Integrity is what the server, and the requests of this page, have found wrong in the database.
function Integrity() {
  const { data, error } = useLive(async () => ({ why: await notReady() }), [], 'often');
  return (
    <section class="card stack">
      <h2>{t.audit.integrity}</h2>
      {error && <Notice tone="caution" role="alert">{error}</Notice>}
      {data?.why && <Notice tone="danger" role="alert">{data.why}</Notice>}
      {data && !data.why && damaged.value.length === 0 && <Notice tone="good">{t.audit.sound}</Notice>}
      {damaged.value.length > 0 && (
        <ul class="stack tight">
          {damaged.value.map((d) => (
            <li key={d.at}><Notice tone="danger">{d.message}<br /><code>{d.path}</code> · <Time at={{ seconds: String(d.at / 1000) }} /></Notice></li>
          ))}
        </ul>
      )}
      <p class="muted small">{t.audit.integrityMore}</p>
    </section>
  );
}

const maxReceipt = 1 << 20;

function Verify() {
  const [text, setText] = useState('');
  const [file, setFile] = useState<string>();
  const [proven, setProven] = useState<Proven>();
  const verified = useAction(async () => {
    setProven(undefined);
    setProven(await verifyReceipt(parseReceipt(text), await publishedKeys()));
  });
  const change = (next: string, name?: string) => {
    setText(next);
    setFile(name);
    setProven(undefined);
    verified.clear();
  };
  const take = async (chosen: File | undefined) => {
    if (chosen && chosen.size <= maxReceipt) change(await chosen.text(), chosen.name);
  };
  return (
    <form class="card stack" onSubmit={(e) => { e.preventDefault(); void verified.run(); }}>
      <h2>{t.audit.verifyTitle}</h2>
      <p class="muted">{t.audit.verifyAbout}</p>
      <DropFile label={t.audit.file} onFile={(f) => void take(f)} />
      <Field label={t.receipt.title} value={text} onInput={change} area hint={file && t.audit.fileRead(file)} />
      <Failure action={verified} />
      {proven && <ProvenReceipt proven={proven} />}
      <div><Button look="primary" submit busy={verified.busy} disabled={text.trim() === ''}>{t.audit.verify}</Button></div>
    </form>
  );
}
