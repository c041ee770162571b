import { type View } from '../../client/models';
import { t } from '../../text';
import { Badge } from '../../ui/parts';

const tones = {
  ACTIVITY_STATUS_COMPLETED: 'good',
  ACTIVITY_STATUS_FAILED: 'danger',
  ACTIVITY_STATUS_REJECTED: 'danger',
  ACTIVITY_STATUS_CONSENSUS_NEEDED: 'caution',
  ACTIVITY_STATUS_AUTHENTICATORS_NEEDED: 'caution',
} as Partial<Record<View['status'], 'good' | 'danger' | 'caution'>>;

export const Status = ({ status }: { status: View['status'] }) => <Badge tone={tones[status]}>{t.status[status] ?? status}</Badge>;
