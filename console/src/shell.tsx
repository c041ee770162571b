// What is around every screen: the bar, the navigation, and what must be known
// everywhere, such as that the server is away.
import { type ComponentType } from 'preact';
import { lazy, Suspense } from 'preact/compat';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

import { away, gathered } from './client/client';
import { every, waiting } from './feed/feed';
import { address, go, place } from './router';
import { Inbox } from './screens/inbox/inbox';
import { adding, others, session, signOut, switchTo, visiting } from './session/session';
import { t } from './text';
import { Brand } from './ui/brand';
import { forgetOutcome } from './ui/outcome';
import { Button, Dialog, Field, Loading, Notice } from './ui/parts';
import { chooseTheme, type Theme, theme } from './ui/theme';

interface Screen {
  path: string;
  title: string;
  show: ComponentType<{ id: string }>;
}

const screens: Screen[] = [
  { path: '', title: t.nav.inbox, show: Inbox },
  { path: 'activities', title: t.nav.activities, show: lazy(() => import('./screens/activities/activities').then((m) => ({ default: m.Activities }))) },
  { path: 'wallets', title: t.nav.wallets, show: lazy(() => import('./screens/wallets/wallets').then((m) => ({ default: m.Wallets }))) },
  { path: 'private-keys', title: t.nav.keys, show: lazy(() => import('./screens/keys/keys').then((m) => ({ default: m.PrivateKeys }))) },
  { path: 'users', title: t.nav.users, show: lazy(() => import('./screens/users/users').then((m) => ({ default: m.Users }))) },
  { path: 'policies', title: t.nav.policies, show: lazy(() => import('./screens/policies/policies').then((m) => ({ default: m.Policies }))) },
  { path: 'limits', title: t.nav.limits, show: lazy(() => import('./screens/limits/limits').then((m) => ({ default: m.Limits }))) },
  { path: 'sub-organizations', title: t.nav.suborgs, show: lazy(() => import('./screens/suborgs/suborgs').then((m) => ({ default: m.SubOrganizations }))) },
  { path: 'webhooks', title: t.nav.webhooks, show: lazy(() => import('./screens/webhooks/webhooks').then((m) => ({ default: m.Webhooks }))) },
  { path: 'organization', title: t.nav.organization, show: lazy(() => import('./screens/organization/organization').then((m) => ({ default: m.Organization }))) },
  { path: 'audit', title: t.nav.audit, show: lazy(() => import('./screens/audit/audit').then((m) => ({ default: m.Audit }))) },
];

// mine counts what waits for the one who is signed in.
export const mine = () => (waiting.value ?? []).filter((a) => a.canApprove).length;

function find(path: string): [screen: Screen, id: string] {
  const [first, id = ''] = path.split('/');
  return [screens.find((s) => s.path === first) ?? screens[0], id];
}

export function Shell() {
  const [screen, id] = find(place.value.path);
  const [menu, setMenu] = useState(false);
  const count = mine();
  // With the page and not after it: a tab never shows another count than its page.
  useLayoutEffect(() => {
    document.title = `${t.name}${count > 0 ? ` (${count})` : ''} · ${screen.title}`;
  }, [count, screen.title]);
  useEffect(() => {
    setMenu(false);
    // A reader of the screen is told where it is now.
    if (document.activeElement instanceof HTMLAnchorElement) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }, [place.value.path]);
  const Show = screen.show;
  return (
    <>
      <a class="skip" href="#content" onClick={(e) => { e.preventDefault(); document.querySelector<HTMLElement>('main h1')?.focus(); }}>{t.skip}</a>
      <div class="shell">
        <header class="topbar">
          <button type="button" class="button small menu-button" aria-expanded={menu} aria-controls="navigation" onClick={() => setMenu(!menu)}>{t.menu}</button>
          <Brand />
          <Account />
        </header>
        <Banners />
        <nav id="navigation" class={`sidebar ${menu ? 'open' : ''}`} aria-label={t.nav.label} onClick={() => { setMenu(false); forgetOutcome(); }}>
          <ul>
            {screens.map((s) => (
              <li key={s.path}>
                <a href={address(s.path)} aria-current={s === screen ? 'page' : undefined}>{s.title}</a>
                {s.path === '' && count > 0 && <span class="count" aria-hidden="true">{count}</span>}
              </li>
            ))}
          </ul>
        </nav>
        <Suspense fallback={<main id="content"><Loading /></main>}>
          <Show id={id} />
        </Suspense>
      </div>
    </>
  );
}

// useSealed looks whether a server that does not answer was started anew and is sealed.
function useSealed(): boolean {
  const [sealed, setSealed] = useState(false);
  useEffect(() => {
    setSealed(false);
    if (!away.value) return undefined;
    const timer = setInterval(() => void gathered().then((g) => setSealed(g !== undefined), () => setSealed(false)), every);
    return () => clearInterval(timer);
  }, [away.value]);
  return sealed;
}

function Banners() {
  const sealed = useSealed();
  return (
    <div class="banner">
      <div role="status">
        {away.value && !sealed && <Notice tone="caution">{t.notReachable}</Notice>}
        {sealed && <Notice tone="caution"><span class="row">{t.unseal.banner} <Button look="small" onClick={() => location.reload()}>{t.unseal.openPage}</Button></span></Notice>}
      </div>
      {visiting.value && (
        <Notice>
          <span class="row">
            {t.readOnly(visiting.value.name)}
            <Button look="small" onClick={() => { visiting.value = undefined; go('sub-organizations'); }}>{t.back}</Button>
          </span>
        </Notice>
      )}
    </div>
  );
}

function Account() {
  const [open, setOpen] = useState(false);
  const held = session.value!;
  return (
    <div class="who">
      <span class="who-name small">
        <bdi>{held.userName}</bdi>
        <span class="organization"><br /><bdi class="muted">{visiting.value?.name ?? held.organizationName}</bdi></span>
      </span>
      <Button look="small" onClick={() => setOpen(true)}>{t.session.account}</Button>
      <Button look="small" onClick={() => void signOut()}>{t.session.signOut}</Button>
      {open && (
        <Dialog title={t.session.signedInAs(held.userName)} onClose={() => setOpen(false)}>
          <p class="muted"><bdi>{held.organizationName}</bdi><br /><code>{held.organizationId}</code></p>
          <Field label={t.theme.label} value={theme.value} onInput={(v) => chooseTheme(v as Theme)} options={[['auto', t.theme.auto], ['light', t.theme.light], ['dark', t.theme.dark]]} />
          {others.value.length > 0 && <h3>{t.session.other}</h3>}
          {others.value.map((o) => (
            <Button key={o.organizationId} onClick={() => { void switchTo(o); setOpen(false); go(''); }}>{t.session.switchTo(o.organizationName)}</Button>
          ))}
          <Button onClick={() => { adding.value = true; }}>{t.session.add}</Button>
          <Button look="primary" onClick={() => setOpen(false)}>{t.close}</Button>
        </Dialog>
      )}
    </div>
  );
}
