// Checking in this page that an entry is in the transparency log: the hash of the
// record, the path to the root of the tree, and the log's Ed25519 signature on it.
// docs/audit.md says what this proves.
import { concat, fromHex, hex, sha256, utf8 } from '../client/bytes';
import { type ReceiptView } from '../client/models';
import { t } from '../text';

export interface LogKeys {
  origin: string;
  verifierKeys: string[];
}

export interface Checkpoint {
  origin: string;
  size: number;
  root: Uint8Array;
  signers: string[]; // whose signatures it carries, checked or not
}

export interface Proven {
  record: Record<string, string | number>;
  index: number;
  checkpoint: Checkpoint;
}

const fromBase64 = (text: string) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const same = (a: Uint8Array, b: Uint8Array) => hex(a) === hex(b);
const refuse = (reason: string) => new Error(t.receipt.refused(reason));

// parseReceipt takes the server's reply as a whole, or its inner object.
export function parseReceipt(text: string): ReceiptView {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse(t.receipt.notJSON);
  }
  const inner = ((value as { receipt?: unknown })?.receipt ?? value) as Partial<ReceiptView> | null;
  const { record, salt, proof } = inner ?? {};
  if (typeof record !== 'string' || typeof salt !== 'string' || typeof proof !== 'string') throw refuse(t.receipt.notAReceipt);
  return { record, salt, proof };
}

// openCheckpoint checks the log's own signature on a note.
export async function openCheckpoint(note: string, logs: LogKeys[]): Promise<Checkpoint> {
  const end = note.indexOf('\n\n');
  if (end < 0) throw refuse(t.receipt.noSignature);
  const text = note.slice(0, end + 1);
  const [origin, size, root] = text.split('\n');
  if (!/^(0|[1-9][0-9]{0,15})$/.test(size ?? '') || !root) throw refuse(t.receipt.notACheckpoint);
  const signatures = note.slice(end + 2).split('\n').filter(Boolean).map((line) => /^— (\S+) (\S+)$/.exec(line)?.slice(1) ?? ['', '']);
  const log = logs.find((l) => l.origin === origin);
  if (!log) throw refuse(t.receipt.otherLog(origin));
  if (!(await signedBy(log, text, signatures))) throw refuse(t.receipt.badSignature);
  return { origin, size: Number(size), root: fromBase64(root), signers: [...new Set(signatures.map(([name]) => name))] };
}

const ed25519 = 1; // the first byte of such a key in a verifier key

async function signedBy(log: LogKeys, text: string, signatures: string[][]): Promise<boolean> {
  for (const verifier of log.verifierKeys) {
    const [name, id, encoded] = verifier.split(/\+([0-9a-f]{8})\+/);
    const key = fromBase64(encoded);
    if (name !== log.origin || key[0] !== ed25519) continue;
    for (const [signer, value] of signatures) {
      if (signer !== name) continue;
      const bytes = fromBase64(value);
      if (hex(bytes.slice(0, 4)) !== id) continue;
      const imported = await crypto.subtle.importKey('raw', key.slice(1), 'Ed25519', false, ['verify']);
      return crypto.subtle.verify('Ed25519', imported, bytes.slice(4), utf8(text));
    }
  }
  return false;
}

// climb computes the root from a leaf and its path, by RFC 9162, 2.1.3.2.
async function climb(leaf: Uint8Array, index: number, size: number, path: Uint8Array[]): Promise<Uint8Array | undefined> {
  let [node, last, hash] = [BigInt(index), BigInt(size) - 1n, leaf];
  if (node > last) return undefined;
  for (const sibling of path) {
    if (last === 0n) return undefined;
    if (node % 2n === 1n || node === last) {
      hash = await sha256(concat(Uint8Array.of(1), sibling, hash));
      while (node % 2n === 0n && node !== 0n) [node, last] = [node / 2n, last / 2n];
    } else {
      hash = await sha256(concat(Uint8Array.of(1), hash, sibling));
    }
    [node, last] = [node / 2n, last / 2n];
  }
  return last === 0n ? hash : undefined;
}

// verifyReceipt proves that the record is in the log of one of the keys, or throws.
export async function verifyReceipt(receipt: ReceiptView, logs: LogKeys[]): Promise<Proven> {
  const parts = /^c2sp\.org\/tlog-proof@v1\nindex (0|[1-9][0-9]{0,15})\n((?:[A-Za-z0-9+/]{43}=\n){0,63})\n([^]*)$/.exec(receipt.proof);
  const salt = fromHex(receipt.salt);
  if (!parts || salt?.length !== 32) throw refuse(t.receipt.notAProof);
  const [, index, path, note] = parts;
  const checkpoint = await openCheckpoint(note, logs);
  const entry = await sha256(concat(salt, utf8(receipt.record)));
  const leaf = await sha256(concat(Uint8Array.of(0), entry));
  const root = await climb(leaf, Number(index), checkpoint.size, path.split('\n').filter(Boolean).map(fromBase64));
  if (!root || !same(root, checkpoint.root)) throw refuse(t.receipt.notIncluded);
  return { record: JSON.parse(receipt.record) as Proven['record'], index: Number(index), checkpoint };
}
