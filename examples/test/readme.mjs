// Reads the blocks of a README, and compares what was printed with what it shows.

// blocks gives the commands of a page in their order: each block marked sh, with
// the block marked text that comes before the next one, if any.
export function blocks(page) {
  const found = [];
  for (const [, language, content] of page.matchAll(/^```(\w+)\n(.*?)^```$/gms)) {
    if (language === 'sh') found.push({ command: content });
    else if (language === 'text' && found.length > 0 && found.at(-1).shows === undefined) found.at(-1).shows = content;
  }
  return found;
}

// A page shows ^C where the reader presses Ctrl-C, as a terminal does.
export const interrupted = (shows = '') => /^\^C$/m.test(shows);
export const untilInterrupted = (shows) => shows.split(/^\^C$/m)[0];

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

// matches says whether the output is what the page shows. There, … stands for
// anything within a line, and alone in a line for any number of lines.
export function matches(output, shows) {
  const lines = shows.trimEnd().split('\n');
  const pattern = lines.map((line) =>
    line.trim() === '…' ? '(?:.*\\n)*?' : `${line.trimEnd().split('…').map(escaped).join('.*')}[ \\t]*\\n`,
  );
  return new RegExp(`^${pattern.join('')}$`).test(`${unannounced(output).trimEnd()}\n`);
}

// npm announces a script with its name and its command.
function unannounced(output) {
  return output.replace(/^\n?> (?:\S+ )?\w+\n> .*\n\n?/gm, '');
}
