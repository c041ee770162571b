// The beginning: the fragment may hold a code, an enrolment link or an invitation, which is taken
// out of the address at once.
import { render } from 'preact';

import { App } from './app';
import { keepBook } from './book/book';
import { follow } from './feed/feed';
import { listen } from './router';
import { hear, resume, touch } from './session/session';
import { applyTheme } from './ui/theme';
import './ui/style.css';

function takeFragment(): URLSearchParams {
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (location.hash) history.replaceState(null, '', location.pathname + location.search);
  return fragment;
}

const fragment = takeFragment();
applyTheme();
listen();
hear();
for (const use of ['pointerdown', 'keydown', 'scroll', 'touchstart']) addEventListener(use, touch, { passive: true, capture: true });
render(<App code={fragment.get('code') ?? undefined} enrolment={fragment.get('enroll') ?? undefined} invitation={fragment.get('invite') ?? undefined} />, document.getElementById('app')!);
void resume().then(() => {
  follow();
  keepBook();
});
