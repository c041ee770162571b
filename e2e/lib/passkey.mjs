// A passkey in software, for tests without a browser. It follows WebAuthn
// (https://www.w3.org/TR/webauthn-2/): ES256, attestation none.
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

const sha256 = (data) => createHash('sha256').update(data).digest();
const hexSha256 = (data) => createHash('sha256').update(data).digest('hex');
const base64url = (data) => Buffer.from(data).toString('base64url');

const userPresent = 0x01;
const attestedCredential = 0x40;

// The few items of CBOR that an attestation consists of.
const cborText = (text) => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
const cborBytes = (bytes) => Buffer.concat([Buffer.from([0x58, bytes.length]), bytes]);

export class Passkey {
  constructor({ rpId = 'localhost', origin = 'http://localhost:3000' } = {}) {
    this.rpId = rpId;
    this.origin = origin;
    this.counter = 0; // as synced passkeys have it; above that it counts
    this.id = randomBytes(16);
    this.keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  }

  get credentialId() {
    return base64url(this.id);
  }

  #clientData(type, challenge) {
    const { origin } = this;
    return Buffer.from(JSON.stringify({ type, challenge: base64url(challenge), origin, crossOrigin: false }));
  }

  #authenticatorData(flags, rest = Buffer.alloc(0)) {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    return Buffer.concat([sha256(this.rpId), Buffer.from([flags]), counter, rest]);
  }

  // register gives what create_authenticators and others take.
  register(authenticatorName, challenge = randomBytes(32)) {
    const { x, y } = this.keys.publicKey.export({ format: 'jwk' });
    const cose = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      cborBytes(Buffer.from(x, 'base64url')),
      Buffer.from([0x22]),
      cborBytes(Buffer.from(y, 'base64url')),
    ]);
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, cose]);
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      cborText('fmt'),
      cborText('none'),
      cborText('attStmt'),
      Buffer.from([0xa0]),
      cborText('authData'),
      cborBytes(this.#authenticatorData(userPresent | attestedCredential, attested)),
    ]);
    return {
      authenticatorName,
      challenge: base64url(challenge),
      attestation: {
        credentialId: this.credentialId,
        clientDataJson: base64url(this.#clientData('webauthn.create', challenge)),
        attestationObject: base64url(attestationObject),
        transports: ['AUTHENTICATOR_TRANSPORT_INTERNAL'],
      },
    };
  }

  // stamp makes it a stamper, such as the clients take.
  async stamp(body) {
    const clientData = this.#clientData('webauthn.get', hexSha256(body));
    const authenticatorData = this.#authenticatorData(userPresent);
    if (this.counter > 0) this.counter++;
    const signature = createSign('sha256').update(authenticatorData).update(sha256(clientData)).sign(this.keys.privateKey);
    return {
      stampHeaderName: 'X-Stamp-WebAuthn',
      stampHeaderValue: JSON.stringify({
        authenticatorData: base64url(authenticatorData),
        clientDataJson: base64url(clientData),
        credentialId: this.credentialId,
        signature: base64url(signature),
      }),
    };
  }
}
