// Where the page is: its path below /console/ and its search.
import { signal } from '@preact/signals';

const root = '/console/';
const here = () => ({ path: location.pathname.slice(root.length).replace(/\/$/, ''), search: new URLSearchParams(location.search) });

export const place = signal(here());

export const address = (path: string): string => root + path;

// go opens a place; instead replaces the one that is shown.
export function go(path: string, instead = false): void {
  if (instead) history.replaceState(null, '', address(path));
  else history.pushState(null, '', address(path));
  place.value = here();
  if (!instead) scrollTo(0, 0);
}

// follow a click on a link of ours without loading the page anew.
export function listen(): void {
  addEventListener('popstate', () => (place.value = here()));
  document.addEventListener('click', (event) => {
    const link = event.composedPath().find((e) => e instanceof HTMLAnchorElement) as HTMLAnchorElement | undefined;
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || link.target || link.hasAttribute('download') || link.origin !== location.origin || !link.pathname.startsWith(root)) return;
    event.preventDefault();
    go(link.pathname.slice(root.length) + link.search);
  });
}
