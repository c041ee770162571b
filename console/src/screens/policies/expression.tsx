// A field for an expression. The editor is loaded when the field is shown; until
// then, and if it cannot be, a plain field does.
import { useEffect, useId, useRef } from 'preact/hooks';

import { type Mounted } from './codemirror';

interface ExpressionProps {
  label: string;
  of: string;
  value: string;
  onInput: (value: string) => void;
  hint: string;
}

export function Expression({ label, of, value, onInput, hint }: ExpressionProps) {
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Mounted | undefined>(undefined);
  const latest = useRef(onInput);
  latest.current = onInput;
  useEffect(() => {
    let gone = false;
    void import('./codemirror').then(({ mount }) => {
      if (gone || !host.current) return;
      editor.current = mount(host.current, { label, of, hint, value, onInput: (v) => latest.current(v) });
    });
    return () => {
      gone = true;
      editor.current?.destroy();
    };
  }, []);
  useEffect(() => editor.current?.set(value), [value]);
  return (
    <div class="field">
      <span class="legend" id={id} aria-hidden="true">{label}</span>
      <div ref={host} class="editor" />
      <div class="hint">{hint}</div>
    </div>
  );
}
