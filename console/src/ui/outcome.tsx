// What came of an activity that a form has submitted: it may wait for others.
import { signal } from '@preact/signals';

import { readBook } from '../book/book';
import { type View } from '../client/models';
import { lookNow, waiting } from '../feed/feed';
import { address } from '../router';
import { t } from '../text';
import { Notice } from './parts';

const last = signal<View | undefined>(undefined);

// report shows what came of an activity, and reads what it may have changed.
export function report({ activity }: { activity: View }): void {
  last.value = activity.status === 'ACTIVITY_STATUS_COMPLETED' ? undefined : activity;
  lookNow();
  if (activity.status === 'ACTIVITY_STATUS_COMPLETED') void readBook().catch(() => undefined);
}

// forgetOutcome is for when another screen is chosen.
export function forgetOutcome(): void {
  last.value = undefined;
}

export function Outcome() {
  const a = last.value;
  // When it no longer waits, there is nothing to say.
  if (!a || !waiting.value?.some((w) => w.id === a.id)) return null;
  return (
    <Notice tone="caution" role="status">
      {t.waits} <a href={address(`activities/${a.id}`)}>{t.inbox.details}</a>
    </Notice>
  );
}
