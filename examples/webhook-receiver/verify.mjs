// Says whether a delivery is from the server, in two ways. One is enough.
import { createPublicKey, verify } from 'node:crypto';

import { verifyTurnkeyWebhookSignature } from '@turnkey/crypto';

// What is older is refused, even if it is signed: it may be sent again by who has
// seen it.
export const maxAgeMs = 5 * 60 * 1000;

// keysOf gets the keys of a server, and gets them again for an id that it does not
// know: the server may have a new one.
export function keysOf(baseUrl) {
  let known = [];
  return async function find(keyId) {
    if (!known.some(({ kid }) => kid === keyId)) {
      const reply = await fetch(`${baseUrl}/public/v1/discovery/webhooks/jwks`);
      if (!reply.ok) throw new Error(`the keys of the server could not be read: HTTP ${reply.status}`);
      known = (await reply.json()).keys;
    }
    return known.find(({ kid }) => kid === keyId);
  };
}

// With the published package. It gives the event's id, or says why not.
export async function verifyDelivery(find, headers, body, nowMs = Date.now()) {
  const key = await find(headers['x-turnkey-signature-key-id']);
  return verifyTurnkeyWebhookSignature({
    headers,
    body,
    verificationKeys: key ? [{ keyId: key.kid, publicKey: Buffer.from(key.x, 'base64url').toString('hex') }] : [],
    maxTimestampAgeMs: maxAgeMs,
    nowMs,
  });
}

// By the specification of Standard Webhooks (v1a, Ed25519), with nothing but Node.
export async function verifyStandard(find, headers, body, nowMs = Date.now()) {
  const key = await find(headers['x-turnkey-signature-key-id']);
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures } = headers;
  if (!key || !id || !signatures || !/^\d+$/.test(seconds)) return false;
  if (Math.abs(nowMs - Number(seconds) * 1000) > maxAgeMs) return false;
  const publicKey = createPublicKey({ key: { kty: key.kty, crv: key.crv, x: key.x }, format: 'jwk' });
  const signed = Buffer.concat([Buffer.from(`${id}.${seconds}.`), body]);
  return signatures
    .split(' ')
    .filter((text) => text.startsWith('v1a,'))
    .some((text) => verify(null, signed, publicKey, Buffer.from(text.slice(4), 'base64')));
}
