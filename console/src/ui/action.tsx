// Doing something on the server: busy while it lasts, and the server's words when it
// is refused, at the field that they are about.
import { useState } from 'preact/hooks';

import { type FieldProblem, Refusal } from '../client/client';
import { t } from '../text';
import { relyingParty } from '../session/passkey';
import { Notice } from './parts';

export interface Action {
  run: () => Promise<void>;
  busy: boolean;
  error: string | undefined;
  problem: (path: string) => string | undefined;
  clear: () => void;
}

export function explain(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof DOMException || (error as Error)?.name === 'NotAllowedError') return t.passkey.refused(relyingParty());
  if (error instanceof TypeError) return t.notReachable;
  return String((error as Error)?.message ?? error);
}

export function useAction(work: () => Promise<unknown>): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const [fields, setFields] = useState<FieldProblem[]>([]);
  const run = async () => {
    setBusy(true);
    setError(undefined);
    setFields([]);
    try {
      await work();
    } catch (caught) {
      setFields(caught instanceof Refusal ? caught.fields : []);
      setError(explain(caught));
    } finally {
      setBusy(false);
    }
  };
  const problem = (path: string) => fields.find((f) => f.path === path || f.path.startsWith(path + '.') || f.path.endsWith('.' + path))?.text;
  return { run, busy, error, problem, clear: () => setError(undefined) };
}

export const Failure = ({ action }: { action: Action }) => (action.error ? <Notice tone="danger" role="alert">{action.error}</Notice> : null);
