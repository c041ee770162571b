// Texts that the server signs, in which keys travel sealed.
import { fromHex, fromUtf8 } from './bytes';
import { type Sealed } from './hpke';

interface Envelope {
  data: string;
  dataSignature: string;
  enclaveQuorumPublic: string;
}

export interface Target {
  targetPublic: string;
  organizationId: string;
  userId: string;
}

// The two numbers of a DER signature, 32 bytes each.
function numbers(der: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(64);
  let at = 2;
  for (const place of [32, 64]) {
    const size = der[at + 1];
    const digits = der.slice(at + 2, at + 2 + size).slice(-32);
    out.set(digits, place - digits.length);
    at += 2 + size;
  }
  return out;
}

export type Export = Sealed & { organizationId: string };

// readBundle reads what the holder of a key signed for an organization.
export async function readBundle<T extends Target | Export>(text: string, organizationId: string, signerPublicKey: string): Promise<T> {
  const { data, dataSignature, enclaveQuorumPublic } = JSON.parse(text) as Envelope;
  const bytes = fromHex(data)!;
  const key = await crypto.subtle.importKey('raw', fromHex(signerPublicKey)!, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify']);
  const good = await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, numbers(fromHex(dataSignature)!), bytes);
  if (!good || enclaveQuorumPublic !== signerPublicKey) throw new Error('the server’s signature on this bundle is not valid');
  const inner = JSON.parse(fromUtf8(bytes)) as T;
  if (inner.organizationId !== organizationId) throw new Error('this bundle was made for another organization');
  return inner;
}

// openBundle is readBundle for the server that this page is of.
export async function openBundle<T extends Target | Export>(text: string, organizationId: string): Promise<T> {
  const known = (await (await fetch('/.well-known/latchkey.json')).json()) as { signerPublicKey: string };
  return readBundle<T>(text, organizationId, known.signerPublicKey);
}
