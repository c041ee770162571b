// What a request says, read from the bytes that its submitter signed. The server is
// not believed: its fingerprint must be the hash of these bytes, and what it says of
// the request must be what they say.
import { hex, sha256, utf8 } from '../client/bytes';
import { type View } from '../client/models';
import { type Book } from '../book/book';
import { t } from '../text';
import { type Decoded, Unreadable, type Warning } from './decoded';
import { kindOf, words } from './words';

export type Parameters = Record<string, unknown>;

export interface Reading {
  kind: string; // such as SIGN_TRANSACTION
  type: string;
  parameters: Parameters;
  body: string; // the signed bytes, as text
  trusted: boolean; // whether what is shown is what a vote would approve
  distrust?: string; // why not
  action: string;
  amount?: string;
  from?: string; // what signs
  to?: string;
  network?: string;
  decoded?: Decoded;
  warnings: Warning[];
}

interface Envelope {
  type?: string;
  organizationId?: string;
  parameters?: Parameters;
}

// The submitter's vote holds the request itself.
export const signedBody = (a: View): string => a.votes[0]?.message ?? '';

const empty = (v: unknown) => v === null || v === undefined || v === '' || v === false || v === 0 || (Array.isArray(v) && v.length === 0);

// contradiction finds a value of the signed request that the server tells otherwise.
function contradiction(signed: unknown, told: unknown, path: string): string | undefined {
  if (signed !== null && typeof signed === 'object') {
    if (told === undefined && empty(signed)) return undefined;
    if (Array.isArray(signed) && (!Array.isArray(told) || told.length !== signed.length)) return path;
    for (const [name, value] of Object.entries(signed)) {
      const found = contradiction(value, (told as Parameters | undefined)?.[name], path ? `${path}.${name}` : name);
      if (found) return found;
    }
    return undefined;
  }
  if (empty(signed) && empty(told)) return undefined;
  return String(signed).toLowerCase() === String(told).toLowerCase() ? undefined : path;
}

async function distrust(a: View, body: string, envelope: Envelope): Promise<string | undefined> {
  if (body === '') return t.reading.hidden;
  if ('sha256:' + hex(await sha256(utf8(body))) !== a.fingerprint) return t.reading.otherBytes;
  if (envelope.type !== a.type) return t.reading.contradicts('type');
  if (envelope.organizationId?.toLowerCase() !== a.organizationId) return t.reading.contradicts('organizationId');
  const told = Object.values(a.intent)[0];
  const where = contradiction(envelope.parameters, told, '');
  return where && where !== 'generateAppProofs' ? t.reading.contradicts(where) : undefined;
}

// decodeSigned loads the decoder of the chain, when there is one to load.
async function decodeSigned(kind: string, p: Parameters, book: Book): Promise<Decoded | undefined> {
  if (kind === 'SIGN_TRANSACTION') {
    const text = String(p.unsignedTransaction ?? '');
    const signer = String(p.signWith ?? p.privateKeyId ?? '');
    switch (p.type) {
      case 'TRANSACTION_TYPE_ETHEREUM':
        return (await import('./evm')).decodeTransaction(text, book);
      case 'TRANSACTION_TYPE_SOLANA':
        return (await import('./solana')).decodeTransaction(text, book);
      case 'TRANSACTION_TYPE_BITCOIN':
        return (await import('./bitcoin')).decodeTransaction(text, signer, (address) => book.names.has(address.toLowerCase()));
      case 'TRANSACTION_TYPE_TRON':
        return (await import('./tron')).decodeTransaction(text, book);
      default:
        throw new Unreadable(String(p.type));
    }
  }
  if (kind === 'SIGN_RAW_PAYLOAD' && p.encoding === 'PAYLOAD_ENCODING_EIP712') {
    return (await import('./evm')).decodeTypedData(String(p.payload ?? ''), book);
  }
  return undefined;
}

// alike are two addresses that begin and end the same, which some make on purpose.
const alike = (a: string, b: string): boolean => {
  const bare = (x: string) => x.toLowerCase().replace(/^0x/, '');
  const [x, y] = [bare(a), bare(b)];
  return x !== y && x.length > 20 && x.slice(0, 4) === y.slice(0, 4) && x.slice(-4) === y.slice(-4);
};

function recipientWarnings(d: Decoded, book: Book): Warning[] {
  const all: Warning[] = [];
  for (const to of new Set(d.recipients)) {
    if (book.names.has(to.toLowerCase())) continue;
    const twin = [...book.names.keys(), ...book.past.keys()].find((known) => alike(known, to));
    if (twin) all.push({ level: 'danger', text: t.reading.alike(book.names.get(twin) ?? twin) });
    else if (!book.past.has(to.toLowerCase())) all.push({ level: 'caution', text: t.reading.newRecipient });
  }
  const usual = book.fees.get(d.network);
  if (d.fee !== undefined && usual !== undefined && usual > 0n && d.fee > 5n * usual) all.push({ level: 'caution', text: t.reading.highFee });
  return all;
}

const rawWarnings = (kind: string, p: Parameters): Warning[] =>
  kind.startsWith('SIGN_RAW_PAYLOAD') && p.encoding !== 'PAYLOAD_ENCODING_EIP712' && p.encoding !== 'PAYLOAD_ENCODING_TEXT_UTF8'
    ? [{ level: 'danger', text: t.reading.rawPayload }]
    : [];

const signer = (kind: string, p: Parameters): string | undefined =>
  kind.startsWith('SIGN_') ? String(p.signWith ?? p.privateKeyId ?? '') || undefined : undefined;

// read decodes an activity. What cannot be read is said to be so, and never guessed.
export async function read(a: View, book: Book): Promise<Reading> {
  const body = signedBody(a);
  let envelope: Envelope = {};
  try {
    envelope = JSON.parse(body || '{}') as Envelope;
  } catch {
    // the check below says that these are not the bytes
  }
  const type = envelope.type ?? a.type;
  const kind = kindOf(type);
  const parameters = envelope.parameters ?? (Object.values(a.intent)[0] as Parameters | undefined) ?? {};
  const why = await distrust(a, body, envelope);
  const reading: Reading = {
    kind, type, parameters, body, trusted: why === undefined, distrust: why,
    action: words(kind, parameters, book), from: signer(kind, parameters), warnings: rawWarnings(kind, parameters),
  };
  try {
    const d = await decodeSigned(kind, parameters, book);
    if (!d) return reading;
    reading.decoded = d;
    [reading.action, reading.amount, reading.to, reading.network] = [d.action, d.amount, d.to, d.network];
    reading.warnings = [...d.warnings, ...recipientWarnings(d, book)].sort((x, y) => Number(y.level === 'danger') - Number(x.level === 'danger'));
  } catch (error) {
    const reason = error instanceof Unreadable ? error.message : t.reading.broken;
    reading.warnings = [{ level: 'danger', text: t.reading.unreadable(reason) }];
  }
  return reading;
}
