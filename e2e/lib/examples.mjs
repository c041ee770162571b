// The requests and replies that docs/api shows: one exchange for each operation,
// as @turnkey/http had it with the server in a whole run of the tests.
//
// Values such as ids, times and signatures are others in each run. So what is
// compared is the set of members: see paths and likeness.

// The places of all members of a JSON value: users[].userName.
export function paths(value) {
  const found = new Set();
  visit(value, '', (path) => found.add(path));
  return [...found].sort();
}

// What two runs of the same test have in common: the places with the kinds of
// their values, and the values themselves where they are constants of the
// interface, numbers or booleans.
export function likeness(value) {
  const found = new Set();
  visit(value, '', (path, member) => {
    const kind = member === null ? 'null' : Array.isArray(member) ? 'array' : typeof member;
    const fixed = kind === 'number' || kind === 'boolean' || (kind === 'string' && /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/.test(member));
    found.add(fixed ? `${path}=${member}` : `${path}:${kind}`);
  });
  return [...found].sort().join('\n');
}

function visit(value, path, seen) {
  if (path) seen(path, value);
  if (Array.isArray(value)) {
    for (const element of value) visit(element, `${path}[]`, seen);
  } else if (value !== null && typeof value === 'object') {
    for (const [name, member] of Object.entries(value)) visit(member, path ? `${path}.${name}` : name, seen);
  }
}

const length = (example) => JSON.stringify(example).length;

// Collection holds the exchanges of a run, of those that are alike the shortest.
export class Collection {
  #byOperation = new Map();

  add(operation, example) {
    const alike = this.#byOperation.get(operation) ?? new Map();
    this.#byOperation.set(operation, alike);
    const key = likeness(example);
    if (!alike.has(key) || length(example) < length(alike.get(key))) alike.set(key, example);
  }

  of(operation) {
    return [...(this.#byOperation.get(operation)?.values() ?? [])];
  }

  // As lines of JSON, so that the collections of several processes can be put
  // one after the other.
  toLines() {
    return [...this.#byOperation].flatMap(([operation, alike]) =>
      [...alike.values()].map((example) => `${JSON.stringify({ operation, ...example })}\n`),
    );
  }

  addLines(text) {
    for (const line of text.split('\n').filter(Boolean)) {
      const { operation, ...example } = JSON.parse(line);
      this.add(operation, example);
    }
  }
}

// Longer ones are hard to read; but a long one is better than none.
const longest = 8_000;

// choose takes the exchange that shows most members, and of several the
// shortest. What an activity says around its result is the same for all
// operations and does not count.
export function choose(examples) {
  const shown = ({ request, reply }) => paths({ request, reply: reply.activity?.result ?? reply }).length;
  const short = examples.filter((example) => length(example) <= longest);
  const order = (a, b) => (short.length > 0 ? shown(b) - shown(a) : 0) || length(a) - length(b);
  return (short.length > 0 ? short : examples).sort(order)[0];
}

// renew gives the examples of a run. One that is like the recorded one leaves it
// as it is, so that a change shows what changed.
export function renew(recorded, operations, run) {
  const renewed = {};
  for (const { operation, type } of sorted(operations)) {
    const chosen = choose(candidates(run, operation, type));
    const before = recorded[operation];
    if (chosen) renewed[operation] = before && likeness(before) === likeness(chosen) ? before : chosen;
  }
  return renewed;
}

// problemsOf says in what the recorded examples are not what a run shows.
export function problemsOf(recorded, operations, runs) {
  const problems = [];
  for (const { operation, type } of operations) {
    const example = recorded[operation];
    if (!example) {
      problems.push(`${operation}: has no example`);
      continue;
    }
    const wanted = paths(example).join('\n');
    for (const run of runs) {
      const seen = candidates(run, operation, type);
      if (!seen.some((other) => paths(other).join('\n') === wanted)) {
        problems.push(`${operation}: the example has other members than the exchanges of this run`);
      }
    }
  }
  for (const operation of Object.keys(recorded)) {
    if (!operations.some((o) => o.operation === operation)) problems.push(`${operation}: there is no such operation`);
  }
  return [...new Set(problems)];
}

// Activities of the newest version only; queries have no versions.
const candidates = (run, operation, type) => run.of(operation).filter(({ request }) => !type || request.type === type);

const sorted = (operations) => [...operations].sort((a, b) => (a.operation < b.operation ? -1 : 1));
