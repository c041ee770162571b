// Reading from the server for as long as a screen shows it, and again whenever
// something may have changed.
import { useEffect, useRef, useState } from 'preact/hooks';

import { away } from '../client/client';
import { changes, every } from '../feed/feed';
import { organizationId } from '../session/session';
import { explain } from './action';

export interface Live<T> {
  data: T | undefined;
  error: string | undefined;
  again: () => void;
}

// When to read again: 'changes' when something happened in the organization, 'often'
// also every two seconds, for what changes by itself, 'once' not at all.
export type When = 'changes' | 'often' | 'once';

// useLive reads at once when one of the keys changes, and again as said.
export function useLive<T>(read: () => Promise<T>, keys: unknown[], when: When = 'changes'): Live<T> {
  const subject = JSON.stringify([organizationId.value, ...keys]);
  const [state, setState] = useState<{ subject: string; data?: T; error?: string }>({ subject });
  const [turn, setTurn] = useState(0);
  const reading = useRef('');
  const missed = useRef(false);
  const shown = useRef(true);
  const beat = when === 'once' ? 0 : changes.value;
  useEffect(() => {
    if (when !== 'often') return undefined;
    const timer = setInterval(() => document.visibilityState === 'visible' && !away.value && setTurn((n) => n + 1), every);
    return () => clearInterval(timer);
  }, [when]);
  useEffect(() => {
    shown.current = true;
    return () => {
      shown.current = false;
    };
  }, []);
  useEffect(() => {
    // A slow answer is waited for, unless it is about something else by now. What
    // happened meanwhile may not be in it: then it is read once more.
    if (reading.current === subject) {
      missed.current = true;
      return;
    }
    reading.current = subject;
    missed.current = false;
    const settle = (next: { data?: T; error?: string }) => {
      if (reading.current !== subject) return;
      reading.current = '';
      if (!shown.current) return;
      if (missed.current) setTurn((n) => n + 1);
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
