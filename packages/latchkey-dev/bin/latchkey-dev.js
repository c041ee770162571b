#!/usr/bin/env node
// `npx latchkey-dev` runs a server for development; `npx latchkey-dev request …` and
// all other commands are those of the program.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

import { program } from '../program.js';

const given = process.argv.slice(2);
const command = given[0] === undefined || (given[0].startsWith('-') && !['--version', '-v'].includes(given[0])) ? ['dev', ...given] : given;

let path;
try {
  path = program();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
// A server ends with this process, however that ends.
const serves = command[0] === 'dev';
const child = spawn(path, serves ? [...command, '--until-eof'] : command, { stdio: [serves ? 'pipe' : 'inherit', 'inherit', 'inherit'] });
// A terminal sends Ctrl-C to both; what is sent to this process alone is passed on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`latchkey-dev: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
