// A field for an expression. The editor is loaded when the field is shown. It begins
// with the value and then has its own: what is typed must not be set back by what was
// typed a moment before. Another value is another field, with a key of its own.
import { useEffect, useRef } from 'preact/hooks';

interface ExpressionProps {
  label: string;
  of: string;
  value: string;
  onInput: (value: string) => void;
  hint: string;
}

export function Expression({ label, of, value, onInput, hint }: ExpressionProps) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(onInput);
  latest.current = onInput;
  useEffect(() => {
    let gone = false;
    let destroy: (() => void) | undefined;
    void import('./codemirror').then(({ mount }) => {
      if (gone || !host.current) return;
      destroy = mount(host.current, { label, of, hint, value, onInput: (v) => latest.current(v) });
    });
    return () => {
      gone = true;
      destroy?.();
    };
  }, []);
  return (
    <div class="field">
      <span class="legend" aria-hidden="true">{label}</span>
      <div ref={host} class="editor" />
      <div class="hint">{hint}</div>
    </div>
  );
}
