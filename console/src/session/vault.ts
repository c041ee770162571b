// Where keys are kept between loads of the page: IndexedDB, which stores keys that
// no script can read, this one included.
import { type KeyPair } from '../client/p256';

// Held is a way in to one organization.
export interface Held extends KeyPair {
  organizationId: string;
  organizationName: string;
  userId: string;
  userName: string;
  kind: 'passkey' | 'key';
  until: number; // ms; when a session of a passkey ends
  used: number; // ms; when the page was last used
}

const request = <T>(r: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    r.onsuccess = () => resolve(r.result);
    r.onerror = () => reject(r.error);
  });

async function table<T>(mode: IDBTransactionMode, use: (s: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const open = indexedDB.open('latchkey-console', 1);
  open.onupgradeneeded = () => open.result.createObjectStore('held', { keyPath: 'organizationId' });
  const db = await request(open);
  try {
    const transaction = db.transaction('held', mode);
    const written = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
    const [result] = await Promise.all([request(use(transaction.objectStore('held'))), written]);
    return result;
  } finally {
    db.close();
  }
}

export const allHeld = (): Promise<Held[]> => table('readonly', (s) => s.getAll() as IDBRequest<Held[]>);
export const hold = (held: Held): Promise<IDBValidKey> => table('readwrite', (s) => s.put(held));
export const forget = (organizationId: string): Promise<undefined> => table('readwrite', (s) => s.delete(organizationId));
export const forgetAll = (): Promise<undefined> => table('readwrite', (s) => s.clear());
