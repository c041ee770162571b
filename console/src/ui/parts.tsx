// The parts that all screens are made of.
import { type ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

import { t } from '../text';

type Tone = 'good' | 'danger' | 'caution' | 'info';

export function Notice({ tone = 'info', role, children }: { tone?: Tone; role?: 'alert' | 'status'; children: ComponentChildren }) {
  return (
    <div class={`notice ${tone}`} role={role}>
      <div>{children}</div>
    </div>
  );
}

export const Badge = ({ tone, children }: { tone?: Tone; children: ComponentChildren }) => <span class={`badge ${tone ?? ''}`}>{children}</span>;

interface ButtonProps {
  children: ComponentChildren;
  onClick?: () => void;
  look?: string;
  submit?: boolean;
  busy?: boolean;
  disabled?: boolean;
  label?: string;
}

export function Button({ children, onClick, look = '', submit, busy, disabled, label }: ButtonProps) {
  return (
    <button type={submit ? 'submit' : 'button'} class={`button ${look}`} onClick={onClick} disabled={disabled || busy} aria-label={label} aria-busy={busy || undefined}>
      {busy && <span class="busy" aria-hidden="true" />}
      {children}
    </button>
  );
}

// Copy puts a text on the clipboard and says so.
export function Copy({ text, what }: { text: string; what: string }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => setDone(false), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setDone(true), () => undefined);
  return (
    <button type="button" class="copy" onClick={copy} aria-label={done ? t.copied : t.copy(what)} title={done ? t.copied : t.copy(what)}>
      <svg width="15" height="15" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">
        {done ? <path d="M3 8.5l3.2 3L13 4.5" /> : <path d="M5.5 5.5h7v7h-7zM10 3.5H3.5V10" />}
      </svg>
    </button>
  );
}

// Id is short, and copied whole.
export const Id = ({ id, what }: { id: string; what: string }) => (
  <span>
    <code title={id}>{id.slice(0, 8)}…{id.slice(-4)}</code>
    <Copy text={id} what={what} />
  </span>
);

export const Address = ({ address, name }: { address: string; name?: string }) => (
  <span>
    {name && <Badge tone="info"><bdi>{name}</bdi></Badge>} <code class="mono">{address}</code>
    <Copy text={address} what={t.address} />
  </span>
);

const seconds = (at: { seconds: string }) => Number(at.seconds) * 1000;

// ago says how long ago in words; exact on hover.
export function ago(ms: number, now = Date.now()): string {
  const past = Math.max(0, Math.round((now - ms) / 1000));
  if (past < 60) return t.time.now;
  const format = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'long' });
  if (past < 3600) return format.format(-Math.floor(past / 60), 'minute');
  if (past < 86400) return format.format(-Math.floor(past / 3600), 'hour');
  if (past < 30 * 86400) return format.format(-Math.floor(past / 86400), 'day');
  return new Date(ms).toLocaleDateString();
}

export function Time({ at }: { at: { seconds: string } }) {
  const ms = seconds(at);
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again((n) => n + 1), 30_000);
    return () => clearInterval(timer);
  }, []);
  return <time dateTime={new Date(ms).toISOString()} title={new Date(ms).toLocaleString()}>{ago(ms)}</time>;
}

interface FieldProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  hint?: string;
  problem?: string;
  type?: 'text' | 'password' | 'search' | 'date' | 'number' | 'email';
  area?: boolean;
  // What is typed in an area is not readable. A password field would be offered to be
  // kept by the browser.
  covered?: boolean;
  options?: Array<[value: string, label: string]>;
  required?: boolean;
  numeric?: boolean; // a phone shows its digits
  autocomplete?: string;
  placeholder?: string;
}

export function Field({ label, value, onInput, hint, problem, type = 'text', area, covered, options, required, numeric, autocomplete = 'off', placeholder }: FieldProps) {
  const id = useId();
  const common = {
    id, required, value, placeholder,
    'aria-invalid': problem ? true : undefined,
    'aria-describedby': problem || hint ? `${id}-more` : undefined,
    onInput: (e: Event) => onInput((e.currentTarget as HTMLInputElement).value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {options ? (
        <select {...common}>
          {options.map(([v, text]) => <option key={v} value={v}>{text}</option>)}
        </select>
      ) : area ? (
        <textarea {...common} class={covered ? 'covered' : undefined} rows={4} spellcheck={false} autocomplete={autocomplete} autocapitalize="none" />
      ) : (
        <input {...common} type={type as 'text'} inputMode={numeric ? 'numeric' : undefined} autocomplete={autocomplete} spellcheck={false} />
      )}
      {(problem || hint) && <div id={`${id}-more`} class={problem ? 'problem' : 'hint'}>{problem ?? hint}</div>}
    </div>
  );
}

// Dialog is over the page while it is there.
export function Dialog({ title, wide, onClose, children }: { title: string; wide?: boolean; onClose: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    ref.current?.showModal();
    return () => {
      // It is gone for a moment by now: who went on meanwhile keeps the focus.
      if (document.activeElement && document.activeElement !== document.body) return;
      // The button that opened it may have given way to it.
      (before?.isConnected && before !== document.body ? before : document.querySelector<HTMLElement>('main h1'))?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog ref={ref} class={wide ? 'wide' : ''} aria-labelledby={id} onClose={onClose}>
      <div class="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="card empty">
    <h2>{title}</h2>
    <div>{children}</div>
  </div>
);

export const Loading = () => (
  <p class="muted" role="status">
    <span class="busy" aria-hidden="true" /> {t.loading}
  </p>
);

// Heading is the head of a screen, with what can be done there beside it.
export const Heading = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="screen-head">
    <h1 tabIndex={-1}>{title}</h1>
    <div class="row">{children}</div>
  </div>
);
