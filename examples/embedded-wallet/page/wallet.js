// The user's side: everything that needs the passkey happens here, between
// the browser and Latchkey. The application's server takes no part in it.
import { getWebAuthnAttestation, TurnkeyClient } from '@turnkey/http';
import { WebauthnStamper } from '@turnkey/webauthn-stamper';

const config = await fetch('/config.json').then((reply) => reply.json());
const { apiBaseUrl: baseUrl, rpId } = config;

// Requests that the passkey stamps; the browser asks the user each time.
const withPasskey = new TurnkeyClient({ baseUrl }, new WebauthnStamper({ rpId }));

const random = (length) => crypto.getRandomValues(new Uint8Array(length));
const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

// An activity that is done. (One that waits for votes would not be, but the
// user is alone in the organization.)
async function run(method, type, organizationId, parameters) {
  const { activity } = await withPasskey[method]({ type, timestampMs: String(Date.now()), organizationId, parameters });
  if (activity.status !== 'ACTIVITY_STATUS_COMPLETED') throw new Error(`the request is ${activity.status}`);
  return activity.result;
}

// signUp makes a passkey, and has the application's server open a wallet for it.
export async function signUp(name) {
  const challenge = random(32);
  const attestation = await getWebAuthnAttestation({
    publicKey: {
      challenge,
      rp: { id: rpId, name: 'Example wallet' },
      user: { id: random(16), name, displayName: name },
      pubKeyCredParams: [
        { type: 'public-key', alg: -7 }, // ES256
        { type: 'public-key', alg: -257 }, // RS256
      ],
      // So that the browser finds it again without being told its id.
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
    },
  });
  const reply = await fetch('/wallets', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, challenge: base64url(challenge), attestation }),
  });
  const body = await reply.json();
  if (!reply.ok) throw new Error(body.problem);
  return body;
}

// logIn finds the user's wallet by the passkey. The page knows the parent
// organization only: Latchkey looks up in which sub-organization the passkey is.
export async function logIn() {
  const { createReadOnlySessionResult: login } = await run(
    'createReadOnlySession',
    'ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION',
    config.organizationId,
    {},
  );
  // The session reads, and can do nothing else. It saves a second question to
  // the user, and is dropped after this.
  const reader = new TurnkeyClient(
    { baseUrl },
    { stamp: async () => ({ stampHeaderName: 'X-Session', stampHeaderValue: login.session }) },
  );
  const { organizationId } = login;
  const { wallets } = await reader.getWallets({ organizationId });
  const { accounts } = await reader.getWalletAccounts({ organizationId, walletId: wallets[0].walletId });
  return { organizationId, name: login.username, address: accounts[0].address };
}

// sign signs a text as wallets do (EIP-191), with the passkey's consent.
export async function sign({ organizationId, address }, message) {
  const encode = (text) => new TextEncoder().encode(text);
  const length = encode(message).length;
  const { signRawPayloadResult: signature } = await run(
    'signRawPayload',
    'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    organizationId,
    {
      signWith: address,
      payload: hex(encode(`\x19Ethereum Signed Message:\n${length}${message}`)),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    },
  );
  return `0x${signature.r}${signature.s}${(27 + Number(signature.v)).toString(16)}`;
}
