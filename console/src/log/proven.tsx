// What a receipt proves, in words.
import { t } from '../text';
import { Id, Notice, Time } from '../ui/parts';
import { type Proven } from './receipt';

export function ProvenReceipt({ proven }: { proven: Proven }) {
  const { record, index, checkpoint } = proven;
  const status = String(record.status ?? '');
  return (
    <div class="stack">
      <Notice tone="good" role="status">{t.receipt.verified(index, checkpoint.size)}</Notice>
      <dl class="facts">
        {record.activityId && <><dt>{t.activity.id}</dt><dd><Id id={String(record.activityId)} what={t.activity.id} /></dd></>}
        {record.kind && <><dt>{t.receipt.kind}</dt><dd><code>{record.kind}</code></dd></>}
        <dt>{t.activity.status}</dt>
        <dd>{t.status[status] ?? status}</dd>
        <dt>{t.receipt.number}</dt>
        <dd>{record.sequence}</dd>
        <dt>{t.receipt.time}</dt>
        <dd><Time at={{ seconds: String(Number(record.timeMs) / 1000) }} /></dd>
        <dt>{t.receipt.log}</dt>
        <dd><code>{checkpoint.origin}</code></dd>
        <dt>{t.receipt.signers}</dt>
        <dd>{checkpoint.signers.map((name) => <div key={name}><code>{name}</code></div>)}</dd>
      </dl>
    </div>
  );
}
