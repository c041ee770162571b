// All tests in one process, one after the other:
//
//     node --test-reporter=spec all.mjs
import { readdirSync } from 'node:fs';

const folder = new URL('./', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.test.mjs'));
if (names.length === 0) throw new Error('there are no tests');
for (const name of names.sort()) await import(new URL(name, folder));
