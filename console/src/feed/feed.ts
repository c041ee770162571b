// What changes on the server, as it changes. Today it asks every two seconds while
// the page can be seen, and less often while the server is away; a stream of events
// can take its place without another file being changed.
import { effect, signal } from '@preact/signals';

import { type View } from '../client/interface';
import { away } from '../client/client';
import { ask, keepAlive, organizationId, session } from '../session/session';

// waiting lists the activities that wait for votes, newest first; undefined before
// they are known.
export const waiting = signal<View[] | undefined>(undefined);

// pulse counts up with each look at the server; what is live reads it.
export const pulse = signal(0);

const every = 2000;
let timer: ReturnType<typeof setTimeout> | undefined;
let failures = 0;

const same = (a: View[] | undefined, b: View[]) =>
  a?.length === b.length && a.every((v, i) => v.id === b[i].id && v.votes.length === b[i].votes.length && v.canApprove === b[i].canApprove);

async function look(): Promise<void> {
  const of = organizationId.value;
  try {
    const { activities } = await ask('list_activities', {
      filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
      paginationOptions: { limit: '100' },
    }, 1);
    if (of !== organizationId.value) return;
    if (!same(waiting.value, activities)) waiting.value = activities;
    failures = 0;
    pulse.value++;
  } catch {
    failures++; // it is said elsewhere that the server is away
  }
}

async function run(): Promise<void> {
  clearTimeout(timer);
  // A page that cannot be seen locks itself too.
  if (session.value) await keepAlive().catch(() => undefined);
  if (session.value && document.visibilityState === 'visible') await look();
  clearTimeout(timer);
  timer = setTimeout(run, away.value ? Math.min(every * failures, 15_000) : every);
}

// follow begins; lookNow does not wait for the next turn.
export function follow(): void {
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && void run());
  let of = '';
  effect(() => {
    const now = organizationId.value;
    if (now === of) return;
    of = now;
    waiting.value = undefined;
    void run();
  });
}

export const lookNow = (): void => void run();
