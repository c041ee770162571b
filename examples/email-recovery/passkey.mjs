// A passkey in software, in place of a phone, so that the example runs without a
// browser. It follows WebAuthn (https://www.w3.org/TR/webauthn-2/): ES256, no
// attestation. In a page, use getWebAuthnAttestation of @turnkey/http and
// @turnkey/webauthn-stamper instead, as ../embedded-wallet does.
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

const rpId = 'localhost';
const origin = 'http://localhost:3000';

const sha256 = (data) => createHash('sha256').update(data).digest();
const base64url = (data) => Buffer.from(data).toString('base64url');

const userPresent = 0x01;
const attestedCredential = 0x40;

// The few items of CBOR that an attestation consists of.
const cborText = (text) => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
const cborBytes = (bytes) => Buffer.concat([Buffer.from([0x58, bytes.length]), bytes]);

const clientData = (type, challenge) =>
  Buffer.from(JSON.stringify({ type, challenge: base64url(challenge), origin, crossOrigin: false }));

// The counter is always 0, as with all passkeys that are synced.
const authenticatorData = (flags, ...rest) => Buffer.concat([sha256(rpId), Buffer.from([flags, 0, 0, 0, 0]), ...rest]);

export class Passkey {
  #id = randomBytes(16);
  #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  // register gives what an organization needs to know the passkey by.
  register(authenticatorName) {
    const challenge = randomBytes(32);
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' });
    const cose = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      cborBytes(Buffer.from(x, 'base64url')),
      Buffer.from([0x22]),
      cborBytes(Buffer.from(y, 'base64url')),
    ]);
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.#id.length]), this.#id, cose]);
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      cborText('fmt'),
      cborText('none'),
      cborText('attStmt'),
      Buffer.from([0xa0]),
      cborText('authData'),
      cborBytes(authenticatorData(userPresent | attestedCredential, attested)),
    ]);
    return {
      authenticatorName,
      challenge: base64url(challenge),
      attestation: {
        credentialId: base64url(this.#id),
        clientDataJson: base64url(clientData('webauthn.create', challenge)),
        attestationObject: base64url(attestationObject),
        transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL'],
      },
    };
  }

  // stamp makes it a stamper, such as the clients take.
  async stamp(body) {
    const client = clientData('webauthn.get', sha256(body).toString('hex'));
    const authenticator = authenticatorData(userPresent);
    const signature = createSign('sha256').update(authenticator).update(sha256(client)).sign(this.#keys.privateKey);
    return {
      stampHeaderName: 'X-Stamp-WebAuthn',
      stampHeaderValue: JSON.stringify({
        authenticatorData: base64url(authenticator),
        clientDataJson: base64url(client),
        credentialId: base64url(this.#id),
        signature: base64url(signature),
      }),
    };
  }
}
