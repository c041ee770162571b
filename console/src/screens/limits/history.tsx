// What a group has used of a limit over time.
import { type Queries } from '../../client/queries';
import { ask } from '../../session/session';
import { t } from '../../text';
import { useLive } from '../../ui/live';
import { Loading, Notice } from '../../ui/parts';
import { Plot } from '../../ui/plot';

type Control = Queries['list_velocity_controls']['reply']['velocityControls'][number];

const points = 73;
const day = 86_400_000;
const calendar: Record<string, number> = { DAY: day, WEEK: 7 * day, MONTH: 31 * day };
const windows = 4; // as many are shown, so that what has left one is seen to have

// since is the time with which the plot begins: before the control there was nothing.
function since({ createdAt, aggregation: { window } }: Control): number {
  const created = Number(createdAt.seconds) * 1000;
  if (window.infinite) return created;
  const length = window.rolling ? Number(window.rolling.duration) * 1000 : calendar[window.calendar?.unit ?? 'DAY'];
  return Math.max(created, Date.now() - windows * length);
}

export function History({ control, groupId, used }: { control: Control; groupId: string; used: string }) {
  const read = async () => {
    const { controls } = await ask('controls', { identifier: control.identifier, groupId, points: String(points), sinceMs: String(since(control)) });
    return controls[0]?.groups[0]?.history ?? [];
  };
  const { data, error } = useLive(read, [control.velocityControlId, groupId, used], 'once');
  if (error) return <Notice tone="danger">{error}</Notice>;
  if (!data) return <Loading />;
  if (data.length < 2) return null;
  return <Plot label={t.limits.overTime} points={data.map((p) => ({ at: Number(p.atMs), value: p.used }))} bound={control.aggregation.threshold} />;
}
