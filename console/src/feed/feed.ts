// What changes on the server, as it changes: the stream of events says that
// something did, and then the server is asked what. Where there is no stream, it is
// asked every two seconds. A page that cannot be seen does neither.
import { effect, signal } from '@preact/signals';

import { waitingStatuses } from '../approval/waits';
import { type View } from '../client/models';
import { away } from '../client/client';
import { ask, keepAlive, organizationId, session, watch } from '../session/session';

// waiting lists the activities that wait for votes or factors, newest first; undefined before
// they are known.
export const waiting = signal<View[] | undefined>(undefined);

// changes counts how often something happened, or may have: what is live reads it.
export const changes = signal(0);

export const every = 2000; // how often is asked where nothing tells of changes
const calm = 15_000; // with a stream: only whether the page is still used
const together = 300; // events that come at once are one look
let timer: ReturnType<typeof setTimeout> | undefined;
let failures = 0;
let stream: AbortController | undefined;
let connected = false;
let due = false;

const same = (a: View[] | undefined, b: View[]) =>
  a?.length === b.length && a.every((v, i) => v.id === b[i].id && v.status === b[i].status && v.votes.length === b[i].votes.length && v.canApprove === b[i].canApprove);

async function look(changed: boolean): Promise<void> {
  const of = organizationId.value;
  try {
    const { activities } = await ask('list_activities', {
      filterByStatus: waitingStatuses,
      paginationOptions: { limit: '100' },
    }, 1);
    if (of !== organizationId.value) return;
    if (!same(waiting.value, activities)) waiting.value = activities;
    failures = 0;
    if (changed) changes.value++;
  } catch {
    failures++; // it is said elsewhere that the server is away
  }
}

function happened(): void {
  connected = true;
  if (due) return;
  due = true;
  setTimeout(() => {
    due = false;
    void run(true);
  }, together);
}

function disconnect(): void {
  stream?.abort();
  stream = undefined;
  connected = false;
}

function connect(): void {
  const mine = new AbortController();
  stream = mine;
  watch(happened, mine.signal)
    .catch(() => undefined) // it is asked instead
    .finally(() => {
      if (stream !== mine) return;
      const lost = connected;
      disconnect();
      if (lost) void run();
    });
}

async function run(changed = !connected): Promise<void> {
  clearTimeout(timer);
  // A page that cannot be seen locks itself too.
  if (session.value) await keepAlive().catch(() => undefined);
  const shown = session.value && document.visibilityState === 'visible';
  if (!shown) disconnect();
  else await look(changed);
  if (shown && session.value && !stream && !away.value) connect();
  clearTimeout(timer);
  timer = setTimeout(() => void run(), away.value ? Math.min(every * failures, 15_000) : connected ? calm : every);
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
    disconnect();
    void run();
  });
}

export const lookNow = (): void => void run(true);
