// Keys that outlive their document, in the browser's database, which takes them
// without showing their private half.
import { type Keep } from './embedded';

const hour = 60 * 60 * 1000;
const keys = 'keys';

interface Kept {
  pair: CryptoKeyPair;
  until: number;
}

const done = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(new Error('the database of this browser does not answer'));
  });

async function store(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  const opening = indexedDB.open('latchkey-frame', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(keys);
  return (await done(opening)).transaction(keys, mode).objectStore(keys);
}

// keepFor keeps the key of a page's origin, two days unless that says otherwise. A
// page without an origin cannot be told from others, so its key is not kept.
export function keepFor(origin: string, lifetime = 48 * hour): Keep | undefined {
  if (origin === 'null') return undefined;
  const valid = (kept?: Kept) => (kept && kept.until > Date.now() ? kept.pair : undefined);
  const found = async (there: IDBObjectStore) => valid((await done<unknown>(there.get(origin))) as Kept | undefined);
  return {
    load: async () => found(await store('readonly')),
    // In one transaction: of two frames that begin at once, both have the same key.
    claim: async (pair) => {
      const there = await store('readwrite');
      const first = await found(there);
      if (first) return first;
      await done(there.put({ pair, until: Date.now() + lifetime } satisfies Kept, origin));
      return pair;
    },
    drop: async () => done((await store('readwrite')).delete(origin)),
  };
}
