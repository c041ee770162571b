// The pages that a new reader follows work as they are written: the quickstart,
// the concepts and the README, one after the other on one server, and each by
// itself.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { blocks, matches, runPages } from '../lib/page.mjs';
import { newPlace, storeName } from '../lib/server.mjs';

const file = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

// In the order in which docs/README.md lists them.
const listed = [...readFileSync(file('docs/README.md'), 'utf8').matchAll(/^- \[.*?\]\((quickstart\.md|concepts\/.*?\.md)\)/gm)];
const pages = [...listed.map(([, name]) => `docs/${name}`), 'README.md'];

async function run(names) {
  const place = newPlace();
  try {
    return await runPages(names.map(file), place, { running: true });
  } finally {
    place.remove();
  }
}

describe(`pages on ${storeName}`, () => {
  it('are all listed', () => {
    const concepts = readdirSync(file('docs/concepts')).map((name) => `docs/concepts/${name}`);
    assert.deepEqual(pages.toSorted(), ['README.md', ...concepts, 'docs/quickstart.md'].toSorted());
    assert.equal(pages[0], 'docs/quickstart.md');
  });

  it('run one after the other on one server', async () => {
    assert.ok((await run(pages)) >= 30, 'the commands of the pages were not found');
  });

  for (const page of pages.slice(1)) {
    it(`${page} runs by itself`, async () => {
      assert.ok((await run([page])) > 0, 'the commands of the page were not found');
    });
  }

  it('are noticed when they are wrong', () => {
    const [first, second] = blocks('a\n```sh refused\nfalse\n```\n\n```text\nx … y\n```\n');
    assert.deepEqual(
      [first, second].map(({ language, word, text, line }) => [language, word, text, line]),
      [
        ['sh', 'refused', 'false\n', 2],
        ['text', '', 'x … y\n', 6],
      ],
    );
    assert.ok(matches(second.text, 'before x 1\n2 y after'));
    assert.ok(!matches(second.text, 'y x'));
    assert.ok(!matches('a.c', 'abc'));
    assert.throws(() => blocks('```sh\nfalse\n'));
  });
});
