// CodeMirror in a shadow root of its own: there its styles are sheets of the root,
// which the page's security policy allows; in the document they would not be.
import { autocompletion, type CompletionContext, completionKeymap } from '@codemirror/autocomplete';
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';

import { fields } from './fields';

interface Options {
  label: string;
  of: string;
  hint: string;
  value: string;
  onInput: (value: string) => void;
}

const language = StreamLanguage.define({
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/'(?:[^'\\]|\\.)*'?/)) return 'string';
    if (stream.match(/\d+/)) return 'number';
    if (stream.match(/&&|\|\||[=!<>]=|[<>!]/)) return 'operator';
    if (stream.match(/(?:true|false|in)\b/)) return 'keyword';
    if (stream.match(/\w+(?=\()/)) return 'function';
    if (stream.match(/\w+/)) return 'variableName';
    stream.next();
    return null;
  },
  tokenTable: { function: tags.function(tags.variableName) },
});

const colours = HighlightStyle.define([
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.number, color: 'var(--info)' },
  { tag: tags.keyword, color: 'var(--danger)' },
  { tag: tags.operator, color: 'var(--muted)' },
  { tag: tags.function(tags.variableName), color: 'var(--accent)' },
]);

const theme = EditorView.theme({
  '&': { border: '1px solid var(--line-strong)', borderRadius: '6px', background: 'var(--surface)', color: 'var(--text)', fontSize: '14px' },
  '&.cm-focused': { outline: '3px solid var(--accent)', outlineOffset: '2px' },
  '.cm-content': { fontFamily: 'var(--mono)', padding: '8px 10px', minHeight: '3.5rem', caretColor: 'var(--text)' },
  '.cm-tooltip': { background: 'var(--surface)', color: 'var(--text)', border: '1px solid var(--line)', borderRadius: '6px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--accent)', color: 'var(--on-accent)' },
});

const methods = ['any(', 'all(', 'filter(', 'count()', 'contains('];

// complete offers the fields of this expression, and after == the values of one.
function complete(of: string) {
  const mine = fields.filter((f) => f.of === of);
  return (context: CompletionContext) => {
    const value = context.matchBefore(/[\w.[\]]+\s*==\s*'?\w*$/);
    const known = value && mine.find((f) => f.name === value.text.split(/\s*==/)[0] && f.values);
    if (value && known) {
      const from = value.from + value.text.search(/'?\w*$/);
      return { from, options: known.values!.map((v) => ({ label: `'${v}'`, type: 'constant' })) };
    }
    const word = context.matchBefore(/[\w.]+$/);
    if (!word && !context.explicit) return null;
    const dot = word?.text.lastIndexOf('.') ?? -1;
    const options = mine.map((f) => ({ label: f.name.replaceAll('[]', ''), detail: f.kind, type: 'property' }));
    const parts = dot >= 0 ? methods.map((m) => ({ label: word!.text.slice(0, dot + 1) + m, type: 'function' })) : [];
    return { from: word?.from ?? context.pos, options: [...options, ...parts] };
  };
}

// mount makes the editor, and gives what ends it.
export function mount(host: HTMLElement, { label, of, hint, value, onInput }: Options): () => void {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: value,
      extensions: [
        language, syntaxHighlighting(colours), theme, EditorView.lineWrapping,
        autocompletion({ override: [complete(of)], icons: false }),
        keymap.of(completionKeymap),
        EditorView.contentAttributes.of({ 'aria-label': label, 'aria-description': hint, spellcheck: 'false' }),
        EditorView.updateListener.of((update) => update.docChanged && onInput(update.state.doc.toString())),
      ],
    }),
  });
  return () => view.destroy();
}
