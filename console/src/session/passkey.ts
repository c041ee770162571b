// Passkeys: of this page's host, or of the domain that the server's config names.
import { WebauthnStamper } from '@turnkey/webauthn-stamper';

import { base64url } from '../client/bytes';
import { type Stamper } from '../client/client';
import { type AuthenticatorParamsV2 } from '../client/models';
import { settings } from '../settings';

export const relyingParty = (): string => settings.rpId ?? location.hostname;

// Passkeys need a name: an address cannot be a relying party.
export const passkeysWork = (): boolean =>
  'credentials' in navigator && isSecureContext && !/^[\d.]+$|:/.test(relyingParty());

export const stampWithPasskey: Stamper = async (body) => {
  const stamper = new WebauthnStamper({ rpId: relyingParty(), userVerification: 'preferred', timeout: 300_000 });
  const { stampHeaderName, stampHeaderValue } = await stamper.stamp(body);
  return [stampHeaderName, stampHeaderValue];
};

// createPasskey asks the browser for a new passkey, in the form of the interface.
export async function createPasskey(userId: string, userName: string, passkeyName: string): Promise<AuthenticatorParamsV2> {
  const challenge = crypto.getRandomValues(new Uint8Array(32));
  const made = (await navigator.credentials.create({
    publicKey: {
      challenge,
      rp: { id: relyingParty(), name: 'Latchkey' },
      user: { id: new TextEncoder().encode(userId), name: userName, displayName: userName },
      pubKeyCredParams: [
        { type: 'public-key', alg: -7 },
        { type: 'public-key', alg: -257 },
      ],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
      timeout: 300_000,
    },
  })) as PublicKeyCredential;
  const response = made.response as AuthenticatorAttestationResponse;
  const transports = (response.getTransports?.() ?? []).map((name) => `AUTHENTICATOR_TRANSPORT_${name.toUpperCase()}`);
  const known = ['BLE', 'INTERNAL', 'NFC', 'USB', 'HYBRID'].map((name) => `AUTHENTICATOR_TRANSPORT_${name}`);
  return {
    authenticatorName: passkeyName,
    challenge: base64url(challenge),
    attestation: {
      credentialId: base64url(new Uint8Array(made.rawId)),
      clientDataJson: base64url(new Uint8Array(response.clientDataJSON)),
      attestationObject: base64url(new Uint8Array(response.attestationObject)),
      transports: transports.filter((name) => known.includes(name)) as AuthenticatorParamsV2['attestation']['transports'],
    },
  };
}
