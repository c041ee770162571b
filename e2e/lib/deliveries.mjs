// Whether a delivery to a webhook endpoint is from the server, by the published package
// and by Node's own Ed25519.
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';

import { verifyTurnkeyWebhookSignature } from '@turnkey/crypto';

// keys are those that the server publishes, as a JWK set has them.
export function checked(keys, { headers, body }, maxTimestampAgeMs, nowMs = Date.now()) {
  const verificationKeys = keys.map(({ kid, x }) => ({ keyId: kid, publicKey: Buffer.from(x, 'base64url').toString('hex') }));
  return verifyTurnkeyWebhookSignature({ headers, body, verificationKeys, maxTimestampAgeMs, nowMs });
}

export function verified(keys, delivery, nowMs = Date.now()) {
  const { headers, body } = delivery;
  const result = checked(keys, delivery, 600_000, nowMs);
  // The form of Standard Webhooks, by another hand.
  const [version, signature] = headers['webhook-signature'].split(',');
  assert.equal(version, 'v1a');
  const { kty, crv, x } = keys.find(({ kid }) => kid === headers['x-turnkey-signature-key-id']);
  const signed = Buffer.concat([Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`), body]);
  const key = createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
  assert.equal(verify(null, signed, key, Buffer.from(signature, 'base64')), result.ok);
  return result;
}
