// Runs pages of the documentation as their reader would: the commands of their
// code blocks, one after the other, in one shell. What a page shows as output must
// come out.
//
//     ```sh            commands, none of which may fail
//     ```sh refused    commands of which the last one fails
//     ```sh server     the first terminal: its last command serves until the end
//     ```js NAME       a file of this name
//     ```text          the output of the commands before; … stands for any text
//
// The commands are run as written, in an empty folder in the place of the
// checkout. Three programs are ours there:
//
//   bin/latchkey  is the binary under test. `dev` gets --listen with a free port
//                 instead of the default one, and --store for the store under test.
//   make build    has happened already.
//   npm install   fetches nothing: lib/npm.mjs.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { binary } from './server.mjs';
import { until } from './until.mjs';

// blocks gives the code blocks of a page: {language, words, text, line}.
export function blocks(page) {
  const found = [];
  let open;
  page.split('\n').forEach((text, i) => {
    const fence = text.match(/^```(.*)$/)?.[1];
    if (fence === undefined) {
      open?.lines.push(text);
    } else if (open) {
      found.push({ ...open, text: open.lines.map((line) => `${line}\n`).join('') });
      open = undefined;
    } else {
      const [language, ...words] = fence.trim().split(' ');
      open = { language, word: words.join(' '), line: i + 1, lines: [] };
    }
  });
  assert.equal(open, undefined, 'a code block is not closed');
  return found;
}

// matches tells whether the shown text came out, somewhere in the output.
export function matches(shown, output) {
  const escaped = shown.trim().split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(escaped.join('[^]*?')).test(output);
}

const program = (file, lines) => writeFileSync(file, `#!/bin/sh\n${lines.join('\n')}\n`, { mode: 0o755 });

// prepare makes the folder in which the page is run.
function prepare(place) {
  const folder = join(place.data, 'checkout');
  const tools = join(place.data, 'tools');
  for (const name of [join(folder, 'bin'), tools]) mkdirSync(name, { recursive: true });
  const more = ['--listen', '127.0.0.1:0', ...place.args].map((argument) => `'${argument}'`).join(' ');
  program(join(folder, 'bin/latchkey'), [
    `if [ "$1" = dev ]; then shift; exec '${binary}' dev ${more} "$@"; fi`,
    `exec '${binary}' "$@"`,
  ]);
  program(join(tools, 'make'), ['[ "$*" = build ] && [ -x bin/latchkey ]']);
  program(join(tools, 'npm'), [`exec '${process.execPath}' '${fileURLToPath(new URL('npm.mjs', import.meta.url))}' "$@"`]);
  return { folder, env: { ...process.env, PATH: `${tools}:${process.env.PATH}` } };
}

const isServer = ({ language, word }) => language === 'sh' && word === 'server';

async function serve({ folder, env }, commands) {
  const child = spawn('bash', ['-c', commands], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const end = (signal) => {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // it has ended
    }
  };
  const abandon = () => end('SIGKILL');
  process.once('exit', abandon);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const exited = once(child, 'exit');
  await until(
    () => `dev.json of the server\n${output}`,
    () => {
      assert.ok(child.exitCode === null && child.signalCode === null, `the server ended\n${output}`);
      return existsSync(join(folder, 'latchkey-data/dev.json'));
    },
  );
  return {
    output: () => output,
    async stop() {
      end('SIGTERM');
      await exited;
      process.off('exit', abandon);
    },
  };
}

// tryPrinted runs the commands that a server prints to copy, as readers do.
async function tryPrinted({ folder, env }, server) {
  const printed = () => [...server.output().matchAll(/^ {2}(\S*latchkey request .*)$/gm)].map(([, command]) => command);
  await until(() => `commands to copy\n${server.output()}`, () => printed().length > 1);
  for (const command of printed()) execFileSync('bash', ['-c', command], { cwd: folder, env, stdio: 'pipe' });
}

// runPages runs pages one after the other, in one shell and beside one server, in
// a place of lib/server.mjs. With running, the server that no page starts runs
// already. Files, by name, are those that the reader is told to have; they may hold
// private keys.
export async function runPages(pages, place, { running = false, files = {} } = {}) {
  const scene = prepare(place);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(scene.folder, name), text, { mode: 0o600 });
  const all = pages.flatMap((page) =>
    blocks(readFileSync(page, 'utf8')).map((block) => ({ ...block, at: `${basename(page)}:${block.line}` })),
  );
  let server;
  try {
    if (running && !all.some(isServer)) server = await serve(scene, 'bin/latchkey dev');
    // All commands in one shell, which keeps variables. Each block's output and
    // the number of its commands that failed go to files. A block whose last
    // command fails does so itself and is counted too.
    const script = ["set -o pipefail; trap 'failures=$((failures + 1))' ERR"];
    const commands = [];
    for (const block of all) {
      const name = join(place.data, block.at);
      if (block.language === 'js') {
        assert.match(block.word, /^[a-z]+\.mjs$/, `${block.at}: a program needs a name`);
        writeFileSync(join(scene.folder, block.word), block.text);
      } else if (isServer(block)) {
        assert.equal(server, undefined, `${block.at}: a server is running already`);
        server = await serve(scene, block.text);
        commands.push({ block, output: server.output, status: () => 0 });
        await tryPrinted(scene, server);
      } else if (block.language === 'sh') {
        writeFileSync(name, block.text);
        script.push(`failures=0; . '${name}' >'${name}.out' 2>&1 </dev/null; echo "$? $failures" >'${name}.status'`);
        commands.push({
          block,
          output: () => readFileSync(`${name}.out`, 'utf8'),
          status: () => readFileSync(`${name}.status`, 'utf8').trim(),
        });
      } else {
        assert.equal(block.language, 'text', `${block.at}: what kind of block is this?`);
        assert.ok(commands.length > 0, `${block.at}: output without a command`);
        (commands.at(-1).shown ??= []).push(block);
      }
    }
    const shell = spawn('bash', ['-c', script.join('\n')], { cwd: scene.folder, env: scene.env, stdio: 'inherit' });
    await once(shell, 'exit');
    for (const { block, output, status, shown = [] } of commands) {
      const text = output();
      if (!isServer(block)) {
        const wanted = block.word === 'refused' ? /^[1-9]\d* 2$/ : /^0 0$/;
        assert.match(status(), wanted, `${block.at}: exit status and failed commands\n${block.text}\n${text}`);
      }
      for (const { text: expected, at } of shown) {
        assert.ok(matches(expected, text), `${at}: the page shows\n${expected}\nbut the commands print\n${text}`);
      }
    }
    return commands.length;
  } finally {
    await server?.stop();
  }
}
