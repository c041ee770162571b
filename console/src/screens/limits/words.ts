// Controls in words, and how full they are.
import { type Queries } from '../../client/queries';
import { t } from '../../text';

type Control = Queries['list_velocity_controls']['reply']['velocityControls'][number];

// assetName names a native asset; what else an asset is called only its contract says.
export function assetName(caip19: string): string {
  const [, kind = ''] = caip19.split('/');
  return t.limits.native[kind] ?? '';
}

function windowWords(window: Control['aggregation']['window']): string {
  if (window.rolling) return t.limits.rolling(Number(window.rolling.duration));
  if (window.calendar) return t.limits.calendar[window.calendar.unit](window.calendar.timezone);
  return t.limits.infinite;
}

export function inWords({ dataSource, aggregation }: Control): string {
  const what = dataSource.activityExecution ? t.limits.activities : aggregation.method.endsWith('COUNT') ? t.limits.transfers : t.limits.amount;
  const group = aggregation.groupBy.user ? 'user' : aggregation.groupBy.wallet ? 'wallet' : 'organization';
  const operator = aggregation.operator.replace('VELOCITY_CONTROL_AGGREGATION_OPERATOR_', '');
  return t.limits.sentence(what, t.limits.operators[operator] ?? operator, aggregation.threshold, windowWords(aggregation.window), t.limits.groups[group]);
}

// share is how much of a threshold is used, from 0 to 1. Both can have more digits
// than a number holds; for a bar the first ones are enough.
export function share(used: string, threshold: string): number {
  const whole = Number(threshold);
  if (whole === 0) return Number(used) === 0 ? 0 : 1;
  return Math.min(1, Number(used) / whole);
}
