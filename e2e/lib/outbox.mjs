// What `latchkey dev` would have sent by mail and SMS: files in its data folder.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from './until.mjs';

// parse reads the header of a message, and keeps the rest.
export function parse(text) {
  const [head, ...rest] = text.replaceAll('\r\n', '\n').split('\n\n');
  const header = {};
  for (const line of head.replace(/\n[ \t]+/g, ' ').split('\n')) {
    const [name, ...value] = line.split(':');
    header[name.toLowerCase()] = value.join(':').trim();
  }
  return { header, body: rest.join('\n\n') };
}

// messages are those to one address that are there already, oldest first.
export function messages({ data }, to) {
  const folder = join(data, 'outbox');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.(eml|sms)$/.test(name))
    .sort()
    .map((name) => parse(readFileSync(join(folder, name), 'utf8')))
    .filter(({ header }) => header.to.includes(to));
}

// message waits for the nth message to an address, and gives its header, its
// code and its bundle.
export async function message(place, to, nth = 1) {
  const { header, body } = await until(
    () => `message ${nth} to ${to}`,
    () => messages(place, to)[nth - 1],
  );
  return { header, body, code: header['x-latchkey-code'], bundle: header['x-latchkey-bundle'] };
}
