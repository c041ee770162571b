// What runs in the page, about the dialogs of the kit.

// isClosed: one that is opened while another fades away goes with it.
export function isClosed() {
  return !document.getElementById('headlessui-portal-root');
}

// holdsFrame: whether the dialog around a button of the kit has heard
// from its frame. The dialog shows it nowhere, and a button that is pressed before sends
// the export to no one; React knows.
export function holdsFrame(selector) {
  const button = document.querySelector(selector);
  const known = Object.keys(button ?? {}).find((name) => name.startsWith('__reactFiber$'));
  for (let part = button?.[known]; part; part = part.return) {
    for (const { memoizedState } of [part, part.alternate ?? part]) {
      const seen = new Set(); // some are rings
      for (let state = memoizedState; state && !seen.has(state); state = state.next) {
        if (state.memoizedState?.messageChannel) return true;
        seen.add(state);
      }
    }
  }
  return false;
}
