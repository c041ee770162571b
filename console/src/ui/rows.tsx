// A list of any length, of which only the rows near the window are in the document.
// Rows have one height, which the style of the list gives. A screen reader is told
// which row of how many it reads; the row with the focus stays, wherever the list is
// scrolled to, and so do its neighbours, so that the Tab key goes on from it.
import { type ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface RowsProps<T> {
  items: T[];
  complete: boolean; // whether these are all
  label: string;
  keyOf: (item: T) => string;
  children: (item: T) => ComponentChildren;
}

const beyond = 8; // rows above and below the window

interface Span {
  first: number;
  last: number;
  height: number;
}

export function Rows<T>({ items, complete, label, keyOf, children }: RowsProps<T>) {
  const list = useRef<HTMLUListElement>(null);
  const [span, setSpan] = useState<Span>({ first: 0, last: 2 * beyond, height: 0 });
  const [focused, setFocused] = useState(-1);
  useEffect(() => {
    let frame = 0;
    const measure = () => {
      frame = 0;
      const row = list.current?.firstElementChild;
      if (!list.current || !row) return;
      const height = row.getBoundingClientRect().height;
      const above = -list.current.getBoundingClientRect().top;
      const first = Math.max(0, Math.floor(above / height) - beyond);
      const last = Math.min(items.length, Math.ceil((above + innerHeight) / height) + beyond);
      setSpan((s) => (s.first === first && s.last === last && s.height === height ? s : { first, last, height }));
    };
    const soon = () => (frame ||= requestAnimationFrame(measure));
    measure();
    addEventListener('scroll', soon, { passive: true });
    addEventListener('resize', soon);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', soon);
      removeEventListener('resize', soon);
    };
  }, [items.length]);
  // Of a list that has become shorter there are always some.
  const first = Math.min(span.first, Math.max(0, items.length - 2 * beyond));
  const last = Math.min(items.length, Math.max(span.last, first + 2 * beyond));
  // Rows that are put into their order lose the focus, and get it back.
  const holder = useRef<HTMLElement | undefined>(undefined);
  const drawing = useRef(true);
  drawing.current = true;
  useLayoutEffect(() => {
    drawing.current = false;
    if (holder.current?.isConnected && document.activeElement === document.body) holder.current.focus({ preventScroll: true });
  });
  const leave = (event: FocusEvent) => {
    if (drawing.current || list.current?.contains(event.relatedTarget as Node | null)) return;
    holder.current = undefined;
    setFocused(-1);
  };
  const enter = (i: number, at: HTMLElement) => {
    holder.current = at;
    setFocused(i);
  };
  const shown = new Set<number>();
  for (let i = first; i < last; i++) shown.add(i);
  if (focused >= 0) for (let i = Math.max(0, focused - 1); i <= Math.min(focused + 1, items.length - 1); i++) shown.add(i);
  return (
    <ul ref={list} class="rows" aria-label={label} style={{ height: `${items.length * span.height}px` }} onFocusOut={leave}>
      {[...shown].sort((a, b) => a - b).map((i) => (
        <li key={keyOf(items[i])} style={{ top: `${i * span.height}px` }} aria-posinset={i + 1} aria-setsize={complete ? items.length : -1} onFocusIn={(e) => enter(i, e.target as HTMLElement)}>
          {children(items[i])}
        </li>
      ))}
    </ul>
  );
}
