// Stands in for `npm install` where a page of the documentation is run: it puts
// the packages that the page names, at the versions of the tests, and what they
// declare to need, into node_modules of the working folder. Nothing is fetched.
// So a package that the page forgets is missing here too.
//
//     node npm.mjs install --no-save NAME@VERSION…
import { copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const installed = fileURLToPath(new URL('..', import.meta.url));
const { packages } = JSON.parse(readFileSync(join(installed, 'package-lock.json'), 'utf8'));

// find is where Node would find a package that is imported at a place: in its
// node_modules, else in those further up.
function find(name, place) {
  for (let at = place; ; at = at.slice(0, Math.max(at.lastIndexOf('/node_modules/'), 0))) {
    const candidate = `${at ? `${at}/` : ''}node_modules/${name}`;
    if (packages[candidate]) return candidate;
    if (!at) return undefined;
  }
}

// needed adds a package and what it declares to need. npm installs peers too. A
// page must not rely on what is optional: npm goes on when that cannot be had.
function needed(place, found) {
  if (found.has(place)) return;
  found.add(place);
  const { dependencies, peerDependencies, peerDependenciesMeta } = packages[place];
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional);
  for (const name of [...Object.keys(dependencies ?? {}), ...peers]) {
    const at = find(name, place);
    if (at) needed(at, found);
  }
}

// put links a package into the working folder, without what no program loads.
function put(place, into) {
  mkdirSync(into, { recursive: true });
  for (const entry of readdirSync(place, { withFileTypes: true })) {
    const [from, to] = [join(place, entry.name), join(into, entry.name)];
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules') put(from, to);
    } else if (!/\.(map|md|ts|mts|cts)$/.test(entry.name)) {
      try {
        linkSync(from, to);
      } catch (error) {
        if (error.code !== 'EEXIST') copyFileSync(from, to); // another file system
      }
    }
  }
}

const [command, option, ...wanted] = process.argv.slice(2);
if (command !== 'install' || option !== '--no-save' || wanted.length === 0) {
  throw new Error('only npm install --no-save NAME@VERSION… is known here');
}
const found = new Set();
for (const text of wanted) {
  const name = text.slice(0, text.lastIndexOf('@'));
  const place = find(name, '');
  if (!place) throw new Error(`${text}: the tests do not run with it`);
  const { version } = packages[place];
  if (text !== `${name}@${version}`) throw new Error(`${text}: the tests run with ${version}`);
  needed(place, found);
}
for (const place of found) put(join(installed, place), place);
console.log(`added ${found.size} packages`);
