// Reads policies.yaml, the file that `latchkey policy test` checks, so that
// what is tested is what is deployed.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

// In the file, names stand for ids: ${tag.officer}, ${wallet.Treasury}. ids has
// the real ones, such as { 'wallet.Treasury': '…' }.
export function readPolicies(ids) {
  const { policies } = parse(readFileSync(new URL('policies.yaml', import.meta.url), 'utf8'));
  const fill = (text) =>
    text.replace(/\$\{(.*?)\}/g, (_, name) => {
      if (!ids[name]) throw new Error(`policies.yaml names \${${name}}, which is not known here`);
      return ids[name];
    });
  // Whatever a policy says is passed on: leaving out a part would widen it.
  return policies.map((policy) => Object.fromEntries(Object.entries(policy).map(([part, text]) => [part, fill(text)])));
}
