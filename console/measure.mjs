// How long it takes from the request for the page to what can be read on it, in a
// browser beside a server that is warm. Prints the rows of docs/performance.md.
//
//     scripts/console measure
import { loadavg } from 'node:os';

import { chromium } from 'playwright-core';

import { newPlace, startServer } from '../e2e/lib/server.mjs';
import { consoleUrl, program, programArguments, signIn } from './test/lib.mjs';

const runs = 7;
const place = newPlace();
const server = await startServer(place);
const browser = await chromium.launch({ executablePath: program(), args: programArguments() });
const times = { 'sign-in, nothing cached': [], 'inbox, loaded again': [] };
try {
  for (let run = 0; run < runs; run++) {
    const page = await (await browser.newContext()).newPage();
    const until = async (what, open) => {
      const from = performance.now();
      await open();
      await what.waitFor();
      return performance.now() - from;
    };
    times['sign-in, nothing cached'].push(await until(page.getByRole('heading', { name: 'Sign in' }), () => page.goto(consoleUrl(server.dev), { waitUntil: 'commit' })));
    await signIn(page, server.dev, server.dev);
    const empty = page.getByText('Nothing waits for you');
    await empty.waitFor();
    times['inbox, loaded again'].push(await until(empty, () => page.reload({ waitUntil: 'commit' })));
    await page.context().close();
  }
} finally {
  await browser.close();
  await server.end();
  place.remove();
}
console.log(`${new Date().toISOString().slice(0, 16).replace('T', ' ')}, load average ${loadavg().map((l) => l.toFixed(2)).join(' ')}; median, least and most of ${runs} runs`);
for (const [what, all] of Object.entries(times)) {
  const sorted = all.toSorted((a, b) => a - b).map(Math.round);
  console.log(`| ${what} | ${sorted[runs >> 1]} ms (${sorted[0]}–${sorted.at(-1)}) |`);
}
