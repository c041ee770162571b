// The beginning: the fragment may hold a code, an enrolment link or an invitation, which is taken
// out of the address at once. While the server is sealed it stays there, for the page is loaded
// again when it opens.
import { render } from 'preact';
import { lazy, Suspense } from 'preact/compat';

import { App } from './app';
import { keepBook } from './book/book';
import { follow } from './feed/feed';
import { listen } from './router';
import { hear, resume, touch } from './session/session';
import { settings } from './settings';
import { Loading } from './ui/parts';
import { applyTheme } from './ui/theme';
import './ui/style.css';

function takeFragment(): URLSearchParams {
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (location.hash) history.replaceState(null, '', location.pathname + location.search);
  return fragment;
}

function begin(app: HTMLElement): void {
  const fragment = takeFragment();
  listen();
  hear();
  for (const use of ['pointerdown', 'keydown', 'scroll', 'touchstart']) addEventListener(use, touch, { passive: true, capture: true });
  render(<App code={fragment.get('code') ?? undefined} enrolment={fragment.get('enroll') ?? undefined} invitation={fragment.get('invite') ?? undefined} />, app);
  void resume().then(() => {
    follow();
    keepBook();
  });
}

function waitUntilOpen(app: HTMLElement): void {
  const Unseal = lazy(() => import('./screens/unseal/unseal').then((m) => ({ default: m.Unseal })));
  render(<Suspense fallback={<div class="way-in"><main id="content"><Loading /></main></div>}><Unseal /></Suspense>, app);
}

applyTheme();
(settings.sealed ? waitUntilOpen : begin)(document.getElementById('app')!);
