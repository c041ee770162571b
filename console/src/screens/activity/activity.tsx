// One activity: what its signed bytes say, how it was or is decided, who voted, and
// what came of it. Its address can be sent to a colleague.
import { Recipient, title, useExplanation, useReading, Warnings } from '../../approval/request';
import { standing } from '../../approval/standing';
import { Vote } from '../../approval/vote';
import { waits } from '../../approval/waits';
import { book } from '../../book/book';
import { type View, type VoteView } from '../../client/models';
import { type Reading } from '../../decode/read';
import { ask } from '../../session/session';
import { t } from '../../text';
import { Address, Badge, Copy, Id, Loading, Notice, Time } from '../../ui/parts';
import { useLive } from '../../ui/live';
import { Status } from '../activities/status';
import { Decision } from './decision';
import { Receipt } from './receipt';

export function ActivityScreen({ id }: { id: string }) {
  const { data, error, again } = useLive(() => ask('get_activity', { activityId: id }).then((r) => r.activity), [id]);
  const reading = useReading(data);
  const explanation = useExplanation(data, reading);
  if (!data || !reading) {
    return (
      <main id="content">
        <h1 tabIndex={-1} class="hidden-visually">{t.nav.activities}</h1>
        {error ? <Notice tone="danger" role="alert">{error}</Notice> : <Loading />}
      </main>
    );
  }
  const how = standing(data, explanation, book.value);
  return (
    <main id="content" data-activity={data.id}>
      <div class="stack">
        <div class="screen-head">
          <div>
            <p class="muted"><bdi>{t.inbox.wants(data.votes[0]?.user?.userName ?? '')}</bdi></p>
            <h1 tabIndex={-1}><bdi>{title(reading)}</bdi></h1>
          </div>
          <div class="row">
            {reading.network && <Badge>{reading.network}</Badge>}
            <Status status={data.status} />
            <span class="small muted">{t.activity.share}<Copy text={location.href} what={t.activity.share} /></span>
          </div>
        </div>
        <Warnings reading={reading} />
        <Recipient reading={reading} />
        {waits(data) && <p class="votes"><span>{how.votes}</span><span>{how.rules}</span>{how.limits.map((l) => <span key={l}>{l}</span>)}</p>}
        <Vote activity={data} reading={reading} onVoted={again} />
        {data.failure != null && <Failed activity={data} />}
        <Says reading={reading} />
        <Decision activity={data} explanation={explanation} />
        <Votes activity={data} />
        <Bytes activity={data} reading={reading} />
        <Receipt key={data.status} activityId={data.id} />
      </div>
    </main>
  );
}

function Failed({ activity }: { activity: View }) {
  const failure = activity.failure as { message?: string };
  return <Notice tone="danger"><strong>{t.activity.failure}:</strong> {failure.message}</Notice>;
}

const plain = (v: unknown): string => (typeof v === 'string' ? v : JSON.stringify(v));

function Says({ reading }: { reading: Reading }) {
  const facts = reading.decoded?.facts ?? Object.entries(reading.parameters).map(([label, v]) => ({ label, value: plain(v), kind: undefined }));
  const names = book.value.names;
  return (
    <section class="card stack">
      <h2>{t.activity.says}</h2>
      <dl class="facts">
        {facts.map((f, i) => (
          <FactLine key={i} label={f.label}>
            {f.kind === 'address' ? <Address address={f.value} name={names.get(f.value.toLowerCase())} /> : f.kind === 'code' ? <code>{f.value}</code> : <bdi>{f.value}</bdi>}
          </FactLine>
        ))}
      </dl>
      {reading.decoded && (
        <details>
          <summary>{t.activity.all}</summary>
          <pre tabIndex={0}>{JSON.stringify(reading.parameters, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}

const FactLine = ({ label, children }: { label: string; children: preact.ComponentChildren }) => (
  <>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </>
);

const credential = (v: VoteView): string => (v.scheme.includes('WEBAUTHN') || v.scheme === '' ? t.activity.passkey : t.activity.key);

function Votes({ activity }: { activity: View }) {
  return (
    <section class="card stack">
      <h2>{t.activity.votes}</h2>
      <ul class="stack tight">
        {activity.votes.map((v) => {
          const yes = v.selection === 'VOTE_SELECTION_APPROVED';
          return (
            <li key={v.id} class="row">
              <strong><bdi>{v.user?.userName ?? v.userId}</bdi></strong>
              <Badge tone={yes ? 'good' : 'danger'}>{yes ? t.activity.approved : t.activity.rejected}</Badge>
              <span class="muted">{t.activity.withCredential(credential(v))}</span>
              <span class="muted"><Time at={v.createdAt} /></span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Bytes({ activity, reading }: { activity: View; reading: Reading }) {
  const result = activity.result as Record<string, unknown>;
  const shown = Object.entries(result).filter(([name]) => name !== 'activity');
  return (
    <section class="card stack">
      <h2>{t.activity.bytes}</h2>
      {reading.trusted && <Notice tone="good">{t.activity.verified}</Notice>}
      <dl class="facts">
        <FactLine label={t.activity.fingerprint}><code>{activity.fingerprint}</code></FactLine>
        <FactLine label={t.activity.id}><Id id={activity.id} what={t.activity.id} /></FactLine>
        <FactLine label={t.activity.type}><code>{activity.type}</code></FactLine>
        <FactLine label={t.activity.created}><Time at={activity.createdAt} /></FactLine>
      </dl>
      <pre tabIndex={0}>{reading.body}</pre>
      {shown.length > 0 && (
        <>
          <h3>{t.activity.result}</h3>
          <pre tabIndex={0}>{JSON.stringify(Object.fromEntries(shown), null, 2)}</pre>
        </>
      )}
    </section>
  );
}
