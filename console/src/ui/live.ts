// Reading from the server for as long as a screen shows it, and again whenever
// something may have changed.
import { useEffect, useRef, useState } from 'preact/hooks';

import { changes, pulse } from '../feed/feed';
import { organizationId } from '../session/session';
import { explain } from './action';

export interface Live<T> {
  data: T | undefined;
  error: string | undefined;
  again: () => void;
}

// useLive reads at once when one of the keys changes, when something happened, and
// as time passes: every says how many pulses of the feed to wait, never not to.
export function useLive<T>(read: () => Promise<T>, keys: unknown[], every: number | 'never' = 1): Live<T> {
  const subject = JSON.stringify([organizationId.value, ...keys]);
  const [state, setState] = useState<{ subject: string; data?: T; error?: string }>({ subject });
  const [turn, setTurn] = useState(0);
  const reading = useRef('');
  const shown = useRef(true);
  const beat = every === 'never' ? 0 : changes.value + Math.floor(pulse.value / every);
  useEffect(() => {
    shown.current = true;
    return () => {
      shown.current = false;
    };
  }, []);
  useEffect(() => {
    // A slow answer is waited for, unless it is about something else by now.
    if (reading.current === subject) return;
    reading.current = subject;
    const settle = (next: { data?: T; error?: string }) => {
      if (reading.current !== subject) return;
      reading.current = '';
      if (!shown.current) return;
      setState((before) => {
        const data = next.error !== undefined && before.subject === subject ? before.data : next.data;
        const same = before.subject === subject && before.error === next.error && JSON.stringify(before.data) === JSON.stringify(data);
        return same ? before : { subject, data, error: next.error };
      });
    };
    read().then((data) => settle({ data }), (problem) => settle({ error: explain(problem) }));
  }, [subject, beat, turn]);
  const current = state.subject === subject;
  return { data: current ? state.data : undefined, error: current ? state.error : undefined, again: () => setTurn((n) => n + 1) };
}
