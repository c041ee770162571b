// The two buttons that decide. A vote stamps the fingerprint of the bytes that were
// shown; there is no further question.
import { type View } from '../client/interface';
import { type Reading } from '../decode/read';
import { lookNow } from '../feed/feed';
import { go } from '../router';
import { decide, readOnly } from '../session/session';
import { t } from '../text';
import { Failure, useAction } from '../ui/action';
import { Button } from '../ui/parts';

export function Vote({ activity, reading, onVoted }: { activity: View; reading: Reading; onVoted?: () => void }) {
  const cast = (operation: 'approve_activity' | 'reject_activity') => async () => {
    const { activity: voted } = await decide(operation, { fingerprint: activity.fingerprint });
    lookNow();
    onVoted?.();
    // What was approved could not be done: its page says why.
    if (voted.status === 'ACTIVITY_STATUS_FAILED') go(`activities/${voted.id}`);
  };
  const approve = useAction(cast('approve_activity'));
  const reject = useAction(cast('reject_activity'));
  if (readOnly.value || activity.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED' || !activity.canApprove) return null;
  const busy = approve.busy || reject.busy;
  return (
    <div class="stack tight">
      <div class="decision">
        <Button look="danger" onClick={() => void reject.run()} busy={reject.busy} disabled={busy}>{t.inbox.reject}</Button>
        {reading.trusted && <Button look="primary" onClick={() => void approve.run()} busy={approve.busy} disabled={busy}>{t.inbox.approve}</Button>}
      </div>
      <Failure action={approve} />
      <Failure action={reject} />
    </div>
  );
}
