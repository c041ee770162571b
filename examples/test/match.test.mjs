// The comparison itself: it must be able to fail.
import assert from 'node:assert/strict';
import { it } from 'node:test';

import { blocks, interrupted, matches, untilInterrupted } from './readme.mjs';

it('reads the blocks of a page', () => {
  const block = (language, content) => `\`\`\`${language}\n${content}\n\`\`\`\n\n`;
  const page = ['# Page\n\n', block('sh', 'one'), 'Text.\n\n', block('text', '1'), block('text', 'not its own')].join('');
  const more = block('yaml', 'a: b') + block('sh', 'two\nthree');
  assert.deepEqual(blocks(page + more), [{ command: 'one\n', shows: '1\n' }, { command: 'two\nthree\n' }]);
});

for (const [name, output, shows, expected] of [
  ['the same', 'a\nb\n', 'a\nb\n', true],
  ['another word', 'a\nb\n', 'a\nc\n', false],
  ['a line too many', 'a\nb\nc\n', 'a\nb\n', false],
  ['a line too many before', 'c\na\nb\n', 'a\nb\n', false],
  ['a line too few', 'a\n', 'a\nb\n', false],
  ['nothing', '', 'a\n', false],
  ['a value that varies', 'id 123 of x\n', 'id … of x\n', true],
  ['only the value varies', 'id 123 of y\n', 'id … of x\n', false],
  ['not beyond its line', 'id 1\n2 of x\n', 'id … of x\n', false],
  ['lines that vary', 'a\n1\n2\nb\n', 'a\n…\nb\n', true],
  ['no lines that vary', 'a\nb\n', 'a\n…\nb\n', true],
  ['not the lines around', 'a\n1\nc\n', 'a\n…\nb\n', false],
  ['signs that mean something elsewhere', 'a.*(b)[c]$ ^|\\\n', 'a.*(b)[c]$ ^|\\\n', true],
  ['signs mean themselves', 'axx\n', 'a.*\n', false],
  ['blanks at the end', 'a  \n\n', 'a\n', true],
  ["npm's announcement", '\n> start\n> node x.mjs\n\na\n', 'a\n', true],
  ["an older npm's announcement", '\n> name@1.0.0 start\n> node x.mjs\n\na\n', 'a\n', true],
  ['a quotation is no announcement', '> a\nb\n', 'b\n', false],
]) {
  it(`compares: ${name}`, () => assert.equal(matches(output, shows), expected));
}

it('knows Ctrl-C', () => {
  assert.ok(interrupted('a\n^C\nb\n'));
  assert.ok(!interrupted('a ^C\n'));
  assert.equal(untilInterrupted('a\n^C\nb\n'), 'a\n');
});
