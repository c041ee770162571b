// The two buttons that decide. A vote stamps the fingerprint of the bytes that were
// shown; there is no further question. Where a multi-factor policy asks for more, the
// same stamp is a factor.
import { lazy, Suspense } from 'preact/compat';

import { type View } from '../client/models';
import { type Reading } from '../decode/read';
import { lookNow } from '../feed/feed';
import { go } from '../router';
import { decide, readOnly } from '../session/session';
import { t } from '../text';
import { Failure, useAction } from '../ui/action';
import { Button } from '../ui/parts';
import { needsFactor, waits } from './waits';

const CodeFactor = lazy(() => import('./code').then((m) => ({ default: m.CodeFactor })));

export function Vote({ activity, reading, onVoted }: { activity: View; reading: Reading; onVoted?: () => void }) {
  const cast = (operation: 'approve_activity' | 'reject_activity') => async () =>
    settle(operation, (await decide(operation, { fingerprint: activity.fingerprint })).activity);
  const settle = (operation: 'approve_activity' | 'reject_activity', voted: View) => {
    lookNow();
    onVoted?.();
    if (operation === 'approve_activity' && needsFactor(activity) && needsFactor(voted)) throw new Error(t.inbox.moreFactors);
    // What was approved could not be done: its page says why.
    if (voted.status === 'ACTIVITY_STATUS_FAILED') go(`activities/${voted.id}`);
  };
  const approve = useAction(cast('approve_activity'));
  const reject = useAction(cast('reject_activity'));
  if (readOnly.value || !waits(activity) || !activity.canApprove) return null;
  const busy = approve.busy || reject.busy;
  const factor = needsFactor(activity);
  return (
    <div class="stack tight">
      {factor && <p class="muted">{t.inbox.factor}</p>}
      <div class="decision">
        {!factor && <Button look="danger" onClick={() => void reject.run()} busy={reject.busy} disabled={busy}>{t.inbox.reject}</Button>}
        {reading.trusted && <Button look="primary" onClick={() => void approve.run()} busy={approve.busy} disabled={busy}>{factor ? t.inbox.confirm : t.inbox.approve}</Button>}
      </div>
      {factor && reading.trusted && <Suspense fallback={null}><CodeFactor activity={activity} onStamped={(voted) => settle('approve_activity', voted)} /></Suspense>}
      <Failure action={approve} />
      <Failure action={reject} />
    </div>
  );
}
