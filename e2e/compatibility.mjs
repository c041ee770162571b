// Makes docs/compatibility.md and docs/api/examples.json of what the tests
// recorded, or checks that they are current:
//
//     node compatibility.mjs [--write] FOLDER…
//
// Each folder holds the records of one whole run (RECORD of lib/record.mjs), one
// for each store. It fails when the server has an operation that no client
// called with success, unless uncovered.json gives the reason, and when the
// stores differ. lib/examples.mjs says when an example is current.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Collection, problemsOf as problemsOfExamples, renew } from './lib/examples.mjs';
import { newPlace, startServer } from './lib/server.mjs';

const local = (name) => fileURLToPath(new URL(name, import.meta.url));
const page = local('../docs/compatibility.md');
const examplesFile = local('../docs/api/examples.json');

// In the order of the columns. What a package has no calls of its own for is
// counted through the client that it calls with.
const clients = [
  '@turnkey/http',
  '@turnkey/sdk-server',
  '@turnkey/core',
  '@turnkey/ethers',
  '@turnkey/viem',
  '@turnkey/solana',
  '@turnkey/cosmjs',
  '@turnkey/crypto',
  '@turnkey/webauthn-stamper',
  '@turnkey/indexed-db-stamper',
  '@turnkey/wallet-stamper',
  '@turnkey/iframe-stamper',
  '@turnkey/sdk-browser',
];

// The packages that have a call for each path of the hosted service.
const whole = clients.slice(0, 3);

// pathsOf are those that the code of a package names, whether or not the server
// has them.
function pathsOf(client) {
  const folder = local(`node_modules/${client}/dist`);
  const code = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.mjs'));
  const named = (text) => [...text.matchAll(/["'`](\/public\/v1\/(?:submit|query)\/\w+)["'`]/g)].map(([, path]) => path);
  return new Set(code.flatMap((name) => named(readFileSync(join(folder, name), 'utf8'))));
}

// Paths that the packages know and the server has not: each is answered with 404
// and the reason.
async function unserved(baseUrl, served) {
  const missing = new Map();
  for (const client of whole) {
    const paths = pathsOf(client);
    if (paths.size < 100) throw new Error(`${client}: only ${paths.size} paths were found; the search is broken`);
    for (const path of paths) {
      if (!served.has(path)) missing.set(path, { by: [...(missing.get(path)?.by ?? []), client] });
    }
  }
  for (const [path, entry] of missing) {
    const reply = await fetch(baseUrl + path, { method: 'POST', body: '{}' });
    if (reply.status !== 404) throw new Error(`${path}: is in no OpenAPI document, but is answered with ${reply.status}`);
    const { details } = await reply.json();
    entry.why = details.find((detail) => detail['@type'].endsWith('google.rpc.ErrorInfo'))?.reason;
    if (!entry.why) throw new Error(`${path}: no reason is given why it is not served; add it to internal/request/api/unserved.go`);
  }
  return [...missing].sort(([a], [b]) => (a < b ? -1 : 1));
}

// All that the server offers, from the server itself. An activity has the type of
// its newest version. Beside the interface there is one operation of our own.
async function catalog() {
  const place = newPlace();
  const server = await startServer(place);
  try {
    const { paths } = await fetch(`${server.dev.baseUrl}/openapi.json`).then((reply) => reply.json());
    const all = Object.entries(paths).map(([path, { post }]) => {
      const kind = path.match(/^\/public\/v1\/(submit|query)\//)?.[1];
      const { oneOf } = post.requestBody.content['application/json'].schema;
      return { kind: kind ?? 'own', operation: post.operationId, type: oneOf?.at(-1).title };
    });
    return { all, missing: await unserved(server.dev.baseUrl, new Set(Object.keys(paths))) };
  } finally {
    await server.stop();
    place.remove();
  }
}

const texts = (folder, ending) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'));

function records(folder) {
  return new Set(texts(folder, '.txt').flatMap((text) => text.trim().split('\n')));
}

function exchanges(folder) {
  const collection = new Collection();
  for (const text of texts(folder, '.jsonl')) collection.addLines(text);
  return collection;
}

function problemsOf(runs, operations, reasons) {
  const problems = [];
  const [first] = runs;
  for (const run of runs.slice(1)) {
    for (const line of [...first].filter((l) => !run.has(l)).concat([...run].filter((l) => !first.has(l)))) {
      problems.push(`${line.replace(' ', ' by ')}: on one store only`);
    }
  }
  for (const { operation } of operations) {
    const covered = clients.some((client) => first.has(`${operation} ${client}`));
    if (!covered && !reasons[operation]) {
      problems.push(`${operation}: no client calls it. Add a test, or the reason why none can to e2e/uncovered.json`);
    }
    if (covered && reasons[operation]) problems.push(`${operation}: is covered; take it out of e2e/uncovered.json`);
  }
  for (const operation of Object.keys(reasons)) {
    if (!operations.some((o) => o.operation === operation))
      problems.push(`${operation}: in e2e/uncovered.json, but the server has no such operation`);
  }
  for (const line of first) {
    const client = line.split(' ')[1];
    if (!clients.includes(client)) problems.push(`${client}: has no column in e2e/compatibility.mjs`);
  }
  return [...new Set(problems)];
}

// counts says how many calls of the newest client are served, and why the others
// are not.
function counts(operations, missing) {
  const [newest] = whole;
  const paths = pathsOf(newest);
  const refused = missing.filter(([, { by }]) => by.includes(newest)).map(([, { why }]) => why);
  const served = operations.filter(({ kind, operation }) => paths.has(`/public/v1/${kind}/${operation}`)).length;
  if (served + refused.length !== paths.size) throw new Error(`${newest} has ${paths.size} calls: ${served} and ${refused.length} are counted`);
  const reasons = [...new Set(refused)].sort().map((why) => `| ${why} | ${refused.filter((one) => one === why).length} |`);
  return `Of the ${paths.size} calls of \`${newest}\`, ${served} are served and ${refused.length} are refused:

| | calls |
|---|---|
| served | ${served} |
${reasons.join('\n')}`;
}

function render(run, operations, reasons, missing) {
  const { devDependencies } = JSON.parse(readFileSync(local('package.json'), 'utf8'));
  const count = (client) => operations.filter(({ operation }) => run.has(`${operation} ${client}`)).length;
  const short = (client) => client.replace('@turnkey/', '');
  const absent = (by) => whole.map((client) => (by.includes(client) ? '✗' : '')).join(' | ');
  const table = (kind) => {
    const rows = operations
      .filter((o) => o.kind === kind)
      .map(({ operation }) => {
        const marks = clients.map((client) => (run.has(`${operation} ${client}`) ? '✓' : ''));
        const name = reasons[operation] ? `\`${operation}\` (no client: ${reasons[operation]})` : `\`${operation}\``;
        return `| ${name} | ${marks.join(' | ')} |`;
      });
    return [`| | ${clients.map(short).join(' | ')} |`, `|---|${clients.map(() => ':-:|').join('')}`, ...rows].join('\n');
  };
  return `# Compatibility

Written by \`UPDATE=1 make e2e\` from a run of the end-to-end tests; do not edit. \`make test\` fails when it is not current, or when the server has an operation that no client covers and no reason is given.

Unmodified published packages called these operations on the real binary, on SQLite and on PostgreSQL, and got what they expect.
${operations.length} operations; ${operations.filter((o) => clients.some((c) => run.has(`${o.operation} ${c}`))).length} are called by at least one client.

| package | version | operations |
|---|---|---|
${clients.map((client) => `| \`${client}\` | ${devDependencies[client]} | ${count(client)} |`).join('\n')}

Signers and stampers have few operations of their own: what counts for them is which calls they made or stamped. For \`@turnkey/crypto\` it is whose bundles it sealed or opened. \`@turnkey/webauthn-stamper\`, \`@turnkey/indexed-db-stamper\` and the larger part of
\`@turnkey/core\` run in Chromium, with passkeys from a virtual authenticator.

## Activities

${table('submit')}

## Queries

${table('query')}

## Not served

${counts(operations, missing)}

The clients have calls for ${missing.length} further paths of the hosted service. The server answers each with 404 and the reason that is given here; [differences.md](differences.md#what-is-not-there) says what the reasons mean, and which other functions of these packages cannot work.

| | why | ${whole.map(short).join(' | ')} |
|---|---|${whole.map(() => ':-:|').join('')}
${missing.map(([path, { by, why }]) => `| \`${path.split('/').at(-1)}\` | ${why} | ${absent(by)} |`).join('\n')}
`;
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const write = process.argv.includes('--write');
const folders = process.argv.slice(2).filter((argument) => argument !== '--write');
const runs = folders.map(records);
const examples = folders.map(exchanges);
const reasons = JSON.parse(readFileSync(local('uncovered.json'), 'utf8'));
const { all, missing } = await catalog();
const operations = all.filter(({ kind }) => kind !== 'own');
const problems = problemsOf(runs, operations, reasons);
const text = render(runs[0], operations, reasons, missing);
let recorded = JSON.parse(readIfThere(examplesFile) || '{}');
if (problems.length === 0 && write) {
  writeFileSync(page, text);
  recorded = renew(recorded, all, examples[0]);
  mkdirSync(dirname(examplesFile), { recursive: true });
  writeFileSync(examplesFile, `${JSON.stringify(recorded, null, 2)}\n`);
} else if (problems.length === 0 && readIfThere(page) !== text) {
  problems.push('docs/compatibility.md is not current: run UPDATE=1 make e2e, and look at what changed');
}
const ofExamples = problemsOfExamples(recorded, all, examples);
problems.push(...ofExamples);
if (ofExamples.length > 0) {
  problems.push('docs/api/examples.json is not current: run UPDATE=1 make e2e');
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
console.log(
  `${operations.length} operations, each called by a published client; docs/compatibility.md and docs/api/examples.json ${write ? 'are written' : 'are current'}`,
);
