// docs/quickstart.md works as it is written.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { blocks, matches, runPage } from '../lib/page.mjs';
import { newPlace, storeName } from '../lib/server.mjs';

describe(`quickstart on ${storeName}`, () => {
  const place = newPlace();
  after(() => place.remove());

  it('runs as written', async () => {
    const page = fileURLToPath(new URL('../../docs/quickstart.md', import.meta.url));
    assert.ok((await runPage(page, place)) >= 8, 'the commands of the page were not found');
  });

  it('notices when a page is wrong', () => {
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
