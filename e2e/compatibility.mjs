// Makes docs/compatibility.md of what the tests recorded, or checks that it is
// current:
//
//     node compatibility.mjs [--write] FOLDER…
//
// Each folder holds the records of one whole run (RECORD of lib/record.mjs), one
// for each store. It fails when the server has an operation that no client
// called with success, unless uncovered.json gives the reason, and when the
// stores differ.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { newPlace, startServer } from './lib/server.mjs';

const local = (name) => fileURLToPath(new URL(name, import.meta.url));
const page = local('../docs/compatibility.md');

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
];

// All that the server offers, from the server itself.
async function catalog() {
  const place = newPlace();
  const server = await startServer(place);
  try {
    const { paths } = await fetch(`${server.dev.baseUrl}/openapi.json`).then((reply) => reply.json());
    const operations = Object.keys(paths).map((path) => path.match(/^\/public\/v1\/(submit|query)\/(\w+)$/));
    return operations.filter(Boolean).map(([, kind, operation]) => ({ kind, operation }));
  } finally {
    await server.stop();
    place.remove();
  }
}

function records(folder) {
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'));
  return new Set(lines);
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

function render(run, operations, reasons) {
  const { devDependencies } = JSON.parse(readFileSync(local('package.json'), 'utf8'));
  const count = (client) => operations.filter(({ operation }) => run.has(`${operation} ${client}`)).length;
  const short = (client) => client.replace('@turnkey/', '');
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

[differences.md](differences.md) says which functions of these packages cannot work, and why.
`;
}

const write = process.argv.includes('--write');
const folders = process.argv.slice(2).filter((argument) => argument !== '--write');
const runs = folders.map(records);
const reasons = JSON.parse(readFileSync(local('uncovered.json'), 'utf8'));
const operations = await catalog();
const problems = problemsOf(runs, operations, reasons);
const text = render(runs[0], operations, reasons);
if (problems.length === 0 && write) {
  writeFileSync(page, text);
} else if (problems.length === 0) {
  let current = '';
  try {
    current = readFileSync(page, 'utf8');
  } catch {
    // not there yet
  }
  if (current !== text) problems.push('docs/compatibility.md is not current: run UPDATE=1 make e2e, and look at what changed');
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
console.log(
  `${operations.length} operations, each called by a published client; docs/compatibility.md ${write ? 'is written' : 'is current'}`,
);
