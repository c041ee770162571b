// Webhooks: where events are posted to, how that goes, and what to do when it does not.
import { useState } from 'preact/hooks';

import { type Queries } from '../../client/queries';
import { act, ask, decide, readOnly } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Confirm } from '../../ui/confirm';
import { useLive } from '../../ui/live';
import { Outcome, report } from '../../ui/outcome';
import { Badge, Button, Dialog, Empty, Field, Heading, Id, Loading, Notice, Time } from '../../ui/parts';

type Endpoint = Queries['list_webhook_endpoints']['reply']['webhookEndpoints'][number];

export function Webhooks() {
  const { data, error, again } = useLive(() => ask('list_webhook_endpoints', {}).then((r) => r.webhookEndpoints), [], 'often');
  const [creating, setCreating] = useState(false);
  return (
    <main id="content">
      <Heading title={t.nav.webhooks}>
        {!readOnly.value && !creating && <Button look="primary" onClick={() => setCreating(true)}>{t.webhooks.create}</Button>}
      </Heading>
      <div class="stack">
        <Outcome />
        {error && <Notice tone="danger" role="alert">{error}</Notice>}
        {!data && !error && <Loading />}
        {data?.length === 0 && <Empty title={t.webhooks.none}>{t.webhooks.noneMore}</Empty>}
        {data?.map((e) => <Card key={e.endpointId} endpoint={e} onChanged={again} />)}
      </div>
      {creating && <Create onClose={() => setCreating(false)} onCreated={again} />}
    </main>
  );
}

const tones = { DELIVERING: 'good', RETRYING: 'caution', PAUSED: undefined, SWITCHED_OFF: 'danger' } as const;

function Card({ endpoint, onChanged }: { endpoint: Endpoint; onChanged: () => void }) {
  const [open, setOpen] = useState<'replay' | 'remove'>();
  const byFeature = endpoint.endpointId === endpoint.organizationId;
  const change = useAction(async () => {
    report(await act('update_webhook_endpoint', { endpointId: endpoint.endpointId, isActive: !endpoint.isActive }));
    onChanged();
  });
  return (
    <section class="card stack">
      <div class="screen-head">
        <div>
          <h2><bdi>{endpoint.name}</bdi></h2>
          <code>{endpoint.url}</code>
        </div>
        <Badge tone={tones[endpoint.state]}>{t.webhooks.states[endpoint.state]}</Badge>
      </div>
      {endpoint.lastError && <Notice tone="caution"><strong>{t.webhooks.lastError}:</strong> {endpoint.lastError}</Notice>}
      <dl class="facts">
        <dt>{t.webhooks.id}</dt>
        <dd><Id id={endpoint.endpointId} what={t.webhooks.id} /></dd>
        <dt>{t.webhooks.delivered}</dt>
        <dd>{endpoint.lastDeliveredMs ? <Time at={{ seconds: String(Number(endpoint.lastDeliveredMs) / 1000) }} /> : t.webhooks.never}</dd>
        <dt>{t.webhooks.waiting}</dt>
        <dd>{endpoint.waiting}</dd>
        <dt>{t.webhooks.filters}</dt>
        <dd>{endpoint.subscriptions.map((s, i) => <div key={i}><code>{s.filtersJson || t.webhooks.everything}</code></div>)}</dd>
      </dl>
      {byFeature && <p class="muted small">{t.webhooks.byFeature}</p>}
      <Failure action={change} />
      {!readOnly.value && (
        <div class="row">
          <Try endpoint={endpoint} />
          {!byFeature && <Button busy={change.busy} onClick={() => void change.run()}>{endpoint.isActive ? t.webhooks.pause : t.webhooks.resume}</Button>}
          <Button onClick={() => setOpen('replay')}>{t.webhooks.replay}</Button>
          {!byFeature && <Button look="danger" onClick={() => setOpen('remove')} label={t.webhooks.removeNamed(endpoint.name)}>{t.remove}</Button>}
        </div>
      )}
      {open === 'replay' && <Replay endpoint={endpoint} onClose={() => setOpen(undefined)} onDone={onChanged} />}
      {open === 'remove' && (
        <Confirm title={t.webhooks.removeNamed(endpoint.name)} yes={t.remove} onClose={() => setOpen(undefined)} work={async () => { report(await decide('delete_webhook_endpoint', { endpointId: endpoint.endpointId })); onChanged(); }}>
          <p>{t.webhooks.removeWarning}</p>
        </Confirm>
      )}
    </section>
  );
}

// Try sends a signed test event now, and shows what came back.
function Try({ endpoint }: { endpoint: Endpoint }) {
  const [answer, setAnswer] = useState<Queries['webhooks_test']['reply']>();
  const attempt = useAction(async () => setAnswer(await ask('webhooks_test', { endpointId: endpoint.endpointId })));
  return (
    <>
      <Button busy={attempt.busy} onClick={() => void attempt.run()}>{t.webhooks.test}</Button>
      {answer && <span role="status" class="small">{answer.delivered ? t.webhooks.taken(answer.durationMs) : t.webhooks.notTaken(answer.error ?? '')}</span>}
      <Failure action={attempt} />
    </>
  );
}

function Replay({ endpoint, onClose, onDone }: { endpoint: Endpoint; onClose: () => void; onDone: () => void }) {
  const [hours, setHours] = useState('24');
  const replay = useAction(async () => {
    report(await act('replay_webhook_endpoint', { endpointId: endpoint.endpointId, sinceMs: String(Date.now() - Number(hours) * 3_600_000) }));
    onDone();
    onClose();
  });
  return (
    <Dialog title={t.webhooks.replay} onClose={onClose}>
      <p class="muted">{t.webhooks.replayAbout}</p>
      <Field label={t.webhooks.since} value={hours} onInput={setHours} options={['1', '24', '168', '720'].map((h) => [h, t.webhooks.spans[h]])} problem={replay.problem('sinceMs')} />
      <Failure action={replay} />
      <div class="row">
        <Button look="primary" busy={replay.busy} onClick={() => void replay.run()}>{t.webhooks.replay}</Button>
        <Button onClick={onClose}>{t.cancel}</Button>
      </div>
    </Dialog>
  );
}

function Create({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [filters, setFilters] = useState('');
  const create = useAction(async () => {
    const filtersJson = filters.trim();
    report(await act('create_webhook_endpoint', { name, url: url.trim(), subscriptions: [{ eventType: 'ACTIVITY_UPDATES', ...(filtersJson && { filtersJson }) }] }));
    onCreated();
    onClose();
  });
  return (
    <Dialog title={t.webhooks.create} onClose={onClose}>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void create.run(); }}>
        <Field label={t.webhooks.name} value={name} onInput={setName} problem={create.problem('name')} required />
        <Field label={t.webhooks.url} value={url} onInput={setUrl} problem={create.problem('url')} hint={t.webhooks.urlHint} required />
        <Field label={t.webhooks.filters} value={filters} onInput={setFilters} problem={create.problem('filtersJson')} hint={t.webhooks.filtersHint} area />
        <Failure action={create} />
        <div class="row">
          <Button look="primary" submit busy={create.busy}>{t.webhooks.create}</Button>
          <Button onClick={onClose}>{t.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
