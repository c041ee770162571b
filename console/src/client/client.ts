// The one place that speaks to the server. A request is stamped once and sent until
// it is answered: the same bytes can be sent again without doing anything twice.
import { signal } from '@preact/signals';

import { type Activities, activityTypes } from './activities';
import { type View } from './models';
import { ownPaths, type Queries } from './queries';

// away is set while the server does not answer.
export const away = signal(false);

// damaged is what this page was refused because what is stored is not what was written.
export const damaged = signal<Array<{ path: string; message: string; at: number }>>([]);

export interface FieldProblem {
  path: string;
  text: string;
}

// Refusal is an answer of the server that is not a success, in its own words.
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly reason: string,
    readonly fields: FieldProblem[],
  ) {
    super(message);
  }
}

export type Stamper = (body: string) => Promise<[name: string, value: string]>;

interface ErrorBody {
  message?: string;
  turnkeyErrorCode?: string;
  details?: Array<{ fieldViolations?: Array<{ field: string; description: string }> }>;
}

const integrity = 'INTEGRITY';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// send asks until there is an answer, or gives up after some tries.
async function send(path: string, request: RequestInit, tries: number): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    let reply: Response;
    let refused: ErrorBody = {};
    try {
      reply = await fetch(path, { ...request, cache: 'no-store', redirect: 'error' });
      if (!reply.ok) refused = (await reply.json().catch(() => ({}))) as ErrorBody;
      // A gateway says so for a server that is not there; the server itself, that its database is
      // not. That it does not trust its database does not pass by itself.
      if (reply.status >= 502 && reply.status <= 504 && refused.turnkeyErrorCode !== integrity) throw new TypeError(String(reply.status));
    } catch (error) {
      away.value = true;
      if (attempt >= tries) throw error;
      await pause(Math.min(500 * attempt, 5000));
      continue;
    }
    away.value = false;
    if (reply.ok) return reply;
    const { message, turnkeyErrorCode, details } = refused;
    if (turnkeyErrorCode === integrity) damaged.value = [{ path, message: message ?? '', at: Date.now() }, ...damaged.value].slice(0, 20);
    const fields = (details ?? []).flatMap((d) => d.fieldViolations ?? []).map((v) => ({ path: v.field, text: v.description }));
    throw new Refusal(reply.status, message ?? `${reply.status}`, turnkeyErrorCode ?? '', fields);
  }
}

async function post(path: string, body: string, stamp: [string, string] | undefined, tries: number): Promise<unknown> {
  const reply = await send(path, { method: 'POST', body, headers: stamp && { [stamp[0]]: stamp[1] } }, tries);
  return reply.json().catch(() => ({}));
}

// read returns the text of a page that everyone may read.
export const read = (path: string): Promise<string> => send(path, {}, 4).then((reply) => reply.text());

export function query<K extends keyof Queries>(
  name: K,
  request: Queries[K]['request'],
  stamper: Stamper,
  tries = 4,
): Promise<Queries[K]['reply']> {
  const body = JSON.stringify(request);
  const path = ownPaths[name] ?? `/public/v1/query/${name}`;
  return stamper(body).then((stamp) => post(path, body, stamp, tries)) as Promise<Queries[K]['reply']>;
}

// stream calls back when it is connected and for each event, until it ends.
export async function stream(request: Queries['events_stream']['request'], stamper: Stamper, onEvent: () => void, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify(request);
  const stamp = await stamper(body);
  const reply = await fetch(ownPaths.events_stream!, { method: 'POST', body, headers: { [stamp[0]]: stamp[1] }, cache: 'no-store', redirect: 'error', signal });
  if (!reply.ok || !reply.body) return; // the caller goes on asking
  onEvent();
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop()!;
    if (blocks.some((block) => block.startsWith('id:'))) onEvent();
  }
}

export interface Submitted<K extends keyof Activities> {
  activity: View;
  result: Activities[K]['result'] | undefined; // undefined while it waits for votes
}

export async function submit<K extends keyof Activities>(
  name: K,
  organizationId: string,
  parameters: Activities[K]['parameters'],
  stamper: Stamper,
): Promise<Submitted<K>> {
  const [type, resultKey] = activityTypes[name];
  const body = JSON.stringify({ type, timestampMs: String(Date.now()), organizationId, parameters });
  const { activity } = (await post(`/public/v1/submit/${name}`, body, await stamper(body), 10)) as { activity: View };
  const done = activity.status === 'ACTIVITY_STATUS_COMPLETED';
  return { activity, result: done ? ((activity.result as Record<string, unknown>)[resultKey] as Activities[K]['result']) : undefined };
}

// fetchDevKey uses up the code of a development server's terminal.
export function fetchDevKey(code: string): Promise<{ organizationId: string; apiPrivateKey: string }> {
  return post('/console/dev-key', JSON.stringify({ code }), undefined, 4) as Promise<{ organizationId: string; apiPrivateKey: string }>;
}

// Gathered says how many people have handed in their shares of the seal.
export interface Gathered {
  recipient: string;
  have: number;
  need: number;
}

async function readiness(): Promise<Gathered & { status?: string; message?: string }> {
  const reply = await fetch('/readyz', { cache: 'no-store', redirect: 'error' });
  return (await reply.json()) as Gathered & { status?: string; message?: string };
}

// gathered is undefined when the server is not sealed.
export async function gathered(): Promise<Gathered | undefined> {
  const { status, ...progress } = await readiness();
  return status === 'sealed' ? progress : undefined;
}

// notReady is why the server carries out nothing, in its words; undefined if it does.
export const notReady = (): Promise<string | undefined> => readiness().then(({ message }) => message);

export function handIn(share: string): Promise<Gathered & { sealed: boolean; repeated?: boolean }> {
  return post('/latchkey/v1/unseal', JSON.stringify({ share }), undefined, 1) as Promise<Gathered & { sealed: boolean; repeated?: boolean }>;
}
