// Looks that an application may give to what a frame shows. Everything is listed:
// a style must neither fetch anything nor hide what the frame says.
import { type Handlers, Refused, text } from './channel';

const size = String.raw`\d+(\.\d+)?(px|em|rem|%|vh|vw|in|cm|mm|pt|pc|ex|ch|vmin|vmax)`;
const sizes = `${size}( ${size}){0,3}`;
const color = String.raw`transparent|inherit|initial|[a-z]{3,20}|#[0-9a-f]{3,8}|(rgb|hsl)a?\([\d.%, ]{1,40}\)`;
const oneOf = (words: string) => words.replaceAll(' ', '|');

const allowed: Record<string, string> = {
  padding: sizes,
  margin: sizes,
  borderWidth: sizes,
  borderStyle: oneOf('none solid dashed dotted double groove ridge inset outset'),
  borderColor: color,
  borderRadius: sizes,
  fontSize: size,
  fontWeight: oneOf('normal bold bolder lighter') + String.raw`|\d{3}`,
  fontFamily: `[a-zA-Z0-9 ,'_-]{1,200}`,
  color,
  labelColor: color,
  backgroundColor: color,
  width: `${size}|auto`,
  height: `${size}|auto`,
  maxWidth: `${size}|none`,
  maxHeight: `${size}|none`,
  lineHeight: String.raw`\d+(\.\d+)?|${size}|normal`,
  boxShadow: `none|(${size} ?|0 ){2,4}(${color})( inset)?`,
  textAlign: oneOf('left right center justify initial inherit'),
  overflowWrap: oneOf('normal break-word anywhere'),
  wordWrap: oneOf('normal break-word'),
  resize: oneOf('none both horizontal vertical block inline'),
};

type Styles = Record<string, string>;

function checked(styles: unknown): Styles {
  if (typeof styles !== 'object' || styles === null) throw new Refused('styles must be an object');
  const good: Styles = {};
  for (const [name, value] of Object.entries(styles)) {
    if (value === undefined || value === null) continue;
    if (!Object.hasOwn(allowed, name)) throw new Refused(`${name} is no style that can be set; these can: ${Object.keys(allowed).join(', ')}`);
    const trimmed = typeof value === 'string' ? value.trim() : '';
    if (!new RegExp(`^(${allowed[name]})$`, 'i').test(trimmed)) throw new Refused(`the value of the style ${name} is not allowed`);
    good[name] = trimmed;
  }
  return good;
}

function apply({ labelColor, ...styles }: Styles, to: HTMLElement): void {
  Object.assign(to.style, styles);
  if (labelColor) to.parentElement?.style.setProperty('color', labelColor);
}

// Parts is what the styles are for.
export interface Parts {
  main: HTMLElement;
  passphrase?: HTMLElement;
}

// styling serves APPLY_SETTINGS. They last as long as the document.
export const styling = (parts: Parts, enablePassphrase: (on: boolean) => void = () => {}): Handlers => ({
  APPLY_SETTINGS: (message) => {
    let sent: { styles?: unknown; passphraseStyles?: unknown; enablePassphrase?: unknown };
    try {
      sent = JSON.parse(text(message, 'value')) as typeof sent;
    } catch (error) {
      if (error instanceof Refused) throw error;
      throw new Refused('the settings must be JSON');
    }
    // All are checked before the first is applied.
    const styles = checked(sent.styles ?? {});
    const passphraseStyles = checked(sent.passphraseStyles ?? {});
    apply(styles, parts.main);
    if (styles.backgroundColor) document.body.style.backgroundColor = styles.backgroundColor;
    if (parts.passphrase) apply(passphraseStyles, parts.passphrase);
    enablePassphrase(sent.enablePassphrase === true);
    return { type: 'SETTINGS_APPLIED', value: true };
  },
});
