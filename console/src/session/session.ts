// Who uses the page, and with which keys. A passkey makes a key for a session, which
// reads; what is decided or cannot be undone is stamped by the passkey itself.
import { computed, signal } from '@preact/signals';

import { query, Refusal, type Stamper, stream, submit as submitTo, type Submitted } from '../client/client';
import { type Activities } from '../client/activities';
import { type View } from '../client/models';
import { type Queries } from '../client/queries';
import { generateKey, importKey, type KeyPair, stampWith } from '../client/p256';
import { settings } from '../settings';
import { t } from '../text';
import { stampWithPasskey } from './passkey';
import { allHeld, forget, forgetAll, type Held, hold } from './vault';

export const session = signal<Held | undefined>(undefined);
export const others = signal<Held[]>([]); // further organizations that are signed in
export const started = signal(false); // whether the stored keys were looked at
export const locked = signal(false); // whether a session came to its end
export const adding = signal(false); // whether a further organization is signed in to
// A sub-organization that is looked at, which is done with the parent's key.
export const visiting = signal<{ id: string; name: string } | undefined>(undefined);

export const organizationId = computed(() => visiting.value?.id ?? session.value?.organizationId ?? '');
export const readOnly = computed(() => visiting.value !== undefined);

const sessionSeconds = 900;
const lastOrganization = 'latchkey-organization';

export const rememberedOrganization = (): string => localStorage.getItem(lastOrganization) ?? '';

const stamperOf =
  (key: KeyPair): Stamper =>
  (body) =>
    stampWith(key, body);

function current(): Held {
  const held = session.value;
  if (!held) throw new Refusal(401, t.session.ended, '', []);
  return held;
}

// A refusal that means that the key is no longer known ends the session.
async function guarded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) await lock();
    throw error;
  }
}

type WithoutOrganization<T> = T extends { organizationId: string } ? Omit<T, 'organizationId'> : T;

// Asker is who asks for a code: someone who is signed in, or is about to be.
export interface Asker {
  organizationId: string;
  userId: string;
  stamper: Stamper;
}

export const asSelf = (): Asker => ({ organizationId: organizationId.value, userId: current().userId, stamper: stamperOf(current()) });

// ask reads from the organization that is looked at.
export const ask = <K extends keyof Queries>(name: K, request: WithoutOrganization<Queries[K]['request']>, tries?: number) =>
  guarded(
    query(name, { organizationId: organizationId.value, ...request } as Queries[K]['request'], stamperOf(current()), tries),
  );

// watch calls back for what happens in the organization that is looked at.
export const watch = (onEvent: () => void, signal: AbortSignal): Promise<void> =>
  stream({ organizationId: organizationId.value, after: 'now' }, stamperOf(current()), onEvent, signal);

// act submits an activity with the session's key.
export const act = <K extends keyof Activities>(name: K, parameters: Activities[K]['parameters']): Promise<Submitted<K>> =>
  guarded(submitTo(name, organizationId.value, parameters, stamperOf(current())));

// decide submits what is a decision or cannot be undone: users who signed in with a
// passkey are asked for it.
export const decide = <K extends keyof Activities>(name: K, parameters: Activities[K]['parameters']): Promise<Submitted<K>> =>
  guarded(submitTo(name, organizationId.value, parameters, current().kind === 'passkey' ? stampWithPasskey : stamperOf(current())));

async function enter(key: KeyPair, organization: string, kind: Held['kind'], until: number): Promise<void> {
  const who = await query('whoami', { organizationId: organization }, stamperOf(key));
  const held: Held = { ...key, ...who, userName: who.username, kind, until, used: Date.now() };
  await hold(held);
  localStorage.setItem(lastOrganization, held.organizationId);
  others.value = (await allHeld()).filter((o) => o.organizationId !== held.organizationId);
  visiting.value = undefined;
  session.value = held;
  locked.value = false;
  adding.value = false;
}

const login = (organization: string, key: KeyPair, stamper: Stamper) =>
  submitTo('stamp_login', organization, { publicKey: key.publicKey, expirationSeconds: String(sessionSeconds) }, stamper);

// PendingLogin is a login for which a multi-factor policy asks for more.
export interface PendingLogin {
  key: KeyPair;
  activity: View;
}

export async function signInWithPasskey(organization: string): Promise<PendingLogin | undefined> {
  const key = await generateKey();
  const { activity } = await login(organization, key, stampWithPasskey);
  return enterUnlessPending({ key, activity });
}

// confirm gives a further factor for an activity. It is no sign of a session that has ended
// when that is refused.
export const confirm = ({ organizationId: of, fingerprint }: View, factor: Stamper): Promise<Submitted<'approve_activity'>> =>
  submitTo('approve_activity', of, { fingerprint }, factor);

// confirmLogin gives a further factor for a login.
export async function confirmLogin(pending: PendingLogin, factor: Stamper): Promise<PendingLogin | undefined> {
  const { activity } = await confirm(pending.activity, factor);
  return enterUnlessPending({ key: pending.key, activity });
}

// stamperOfKey takes 64 hex digits; they are forgotten when this returns.
export const stamperOfKey = async (digits: string): Promise<Stamper> => stamperOf(await keyOf(digits));

async function enterUnlessPending(pending: PendingLogin): Promise<PendingLogin | undefined> {
  if (pending.activity.status === 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED') return pending;
  await enter(pending.key, pending.activity.organizationId, 'passkey', Date.now() + sessionSeconds * 1000);
  return undefined;
}

async function keyOf(digits: string): Promise<KeyPair> {
  const key = await importKey(digits);
  if (!key) throw new Refusal(400, t.signIn.notAKey, '', [{ path: 'key', text: t.signIn.notAKey }]);
  return key;
}

// signInWithKey takes 64 hex digits; they are forgotten when this returns.
export async function signInWithKey(organization: string, digits: string): Promise<void> {
  await enter(await keyOf(digits), organization, 'key', Number.MAX_SAFE_INTEGER);
}

// resume takes up what a load of the page before has left.
export async function resume(): Promise<void> {
  const all = await allHeld();
  const now = Date.now();
  const fresh = all.filter((h) => h.until > now && now - h.used < settings.idleSeconds * 1000);
  for (const old of all.filter((h) => !fresh.includes(h))) await forget(old.organizationId);
  const mine = fresh.find((h) => h.organizationId === rememberedOrganization()) ?? fresh[0];
  session.value = mine;
  others.value = fresh.filter((h) => h !== mine);
  locked.value = !mine && all.length > 0;
  started.value = true;
}

export async function switchTo(held: Held): Promise<void> {
  const before = session.value;
  localStorage.setItem(lastOrganization, held.organizationId);
  visiting.value = undefined;
  session.value = held;
  others.value = [...others.value.filter((o) => o !== held), ...(before ? [before] : [])];
}

// lock deletes the keys; signing in again leads back to the same place.
export async function lock(): Promise<void> {
  if (!session.value) return;
  try {
    await forgetAll();
  } finally { // a page whose browser does not delete them closes all the same
    session.value = undefined;
    others.value = [];
    locked.value = true;
  }
}

// signOut says that nothing is kept when that is so: the page may be closed, or loaded again, at
// once.
export async function signOut(): Promise<void> {
  try {
    await forgetAll();
  } finally { // as in lock
    session.value = undefined;
    others.value = [];
    visiting.value = undefined;
    locked.value = false;
    localStorage.removeItem(lastOrganization);
  }
}

// Whether the page is used counts for all of its windows together.
const lastUsed = 'latchkey-used';
let noted = 0;

// touch notes that the page is used.
export function touch(): void {
  const now = Date.now();
  if (now - noted < 1000) return;
  noted = now;
  localStorage.setItem(lastUsed, String(now));
}

// hear signs this window out when another one was.
export function hear(): void {
  addEventListener('storage', (event) => {
    if (event.key === lastOrganization && event.newValue === null) session.value = undefined;
  });
}

// keepAlive locks an idle page and renews the session of one that is used.
export async function keepAlive(): Promise<void> {
  const held = session.value;
  if (!held) return;
  const now = Date.now();
  const lastUse = Math.max(noted, Number(localStorage.getItem(lastUsed) ?? 0), held.used);
  if (now - lastUse >= settings.idleSeconds * 1000 || now >= held.until) return lock();
  const renewal = held.kind === 'passkey' && held.until - now < (sessionSeconds * 1000) / 2;
  if (!renewal) {
    if (lastUse > held.used + 30_000) await hold({ ...held, used: lastUse });
    return;
  }
  const key = await generateKey();
  const { result } = await login(held.organizationId, key, stamperOf(held));
  if (!result) return; // a multi-factor policy asks for more: the session ends in its time
  const next = { ...held, ...key, until: now + sessionSeconds * 1000, used: lastUse };
  if (session.value !== held) return; // signed out, or in another organization, meanwhile
  await hold(next);
  if (session.value === held) session.value = next;
  else if (!others.value.includes(held)) await forget(held.organizationId);
}
