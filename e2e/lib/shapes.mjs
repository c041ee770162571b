// What the records of the interface must look like. A required member that is
// missing, null or of another JSON type breaks one client or another, so every
// record that a test sees goes through here.
import assert from 'node:assert/strict';

const text = (value, path) => assert.equal(typeof value, 'string', `${path} must be a string`);
const bool = (value, path) => assert.equal(typeof value, 'boolean', `${path} must be a boolean`);
const number = (value, path) => assert.ok(Number.isInteger(value), `${path} must be a JSON integer`);
const digits = (value, path) => {
  text(value, path);
  assert.match(value, /^\d+$/, `${path} must be digits`);
};
const uuid = (value, path) =>
  assert.match(value, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, `${path} must be a UUID`);
// Ids that we make are version 7: they sort by time.
const uuid7 = (value, path) => {
  uuid(value, path);
  assert.equal(value[14], '7', `${path} must be a UUIDv7`);
};
const hex = (value, path) => assert.match(value, /^[0-9a-f]+$/, `${path} must be lowercase hex`);
const oneOf =
  (...allowed) =>
  (value, path) =>
    assert.ok(allowed.includes(value), `${path} must be one of ${allowed.join(', ')}, not ${value}`);
const list = (item) => (value, path) => {
  assert.ok(Array.isArray(value), `${path} must be an array, not ${value}`);
  value.forEach((v, i) => item(v, `${path}[${i}]`));
};

// A member whose name ends in ? may be absent, but not null. Members that are
// not named here are allowed: every client ignores them.
const record = (members) => (value, path) => {
  assert.ok(value !== null && typeof value === 'object' && !Array.isArray(value), `${path} must be an object, not ${value}`);
  for (const [key, check] of Object.entries(members)) {
    const name = key.replace(/\?$/, '');
    if (!(name in value)) {
      assert.ok(key.endsWith('?'), `${path}.${name} is missing`);
      continue;
    }
    check(value[name], `${path}.${name}`);
  }
};

const timestamp = record({ seconds: digits, nanos: digits });

const credential = record({
  publicKey: text,
  type: oneOf(
    'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR',
    'CREDENTIAL_TYPE_API_KEY_P256',
    'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256',
    'CREDENTIAL_TYPE_API_KEY_SECP256K1',
    'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256',
    'CREDENTIAL_TYPE_API_KEY_ED25519',
    'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256',
    'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256',
    'CREDENTIAL_TYPE_OAUTH_KEY_P256',
    'CREDENTIAL_TYPE_LOGIN',
  ),
});

const apiKey = record({
  credential,
  apiKeyId: uuid7,
  apiKeyName: text,
  createdAt: timestamp,
  updatedAt: timestamp,
  'expirationSeconds?': digits,
});

const base64url = (value, path) => assert.match(value, /^[\w-]+$/, `${path} must be base64url`);

const authenticator = record({
  transports: list((value, path) => assert.match(value, /^AUTHENTICATOR_TRANSPORT_[A-Z]+$/, path)),
  attestationType: text,
  aaguid: base64url,
  credentialId: base64url,
  model: text,
  credential,
  authenticatorId: uuid7,
  authenticatorName: text,
  createdAt: timestamp,
  updatedAt: timestamp,
});

const oauthProvider = record({
  providerId: uuid7,
  providerName: text,
  issuer: text,
  audience: text,
  subject: text,
  createdAt: timestamp,
  updatedAt: timestamp,
});

const user = record({
  userId: uuid7,
  userName: text,
  'userEmail?': text,
  'userPhoneNumber?': text,
  authenticators: list(authenticator),
  apiKeys: list(apiKey),
  userTags: list(uuid7),
  oauthProviders: list(oauthProvider),
  createdAt: timestamp,
  updatedAt: timestamp,
  mfaPolicies: list(record({})),
});

const tag = record({
  tagId: uuid7,
  tagName: text,
  tagType: oneOf('TAG_TYPE_USER', 'TAG_TYPE_PRIVATE_KEY'),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const curve = oneOf('CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256');
const format = (value, path) => assert.match(value, /^ADDRESS_FORMAT_[A-Z0-9_]+$/, path);

const wallet = record({
  walletId: uuid7,
  walletName: text,
  createdAt: timestamp,
  updatedAt: timestamp,
  exported: bool,
  imported: bool,
});

const walletAccount = (value, path) => {
  record({
    walletAccountId: uuid7,
    organizationId: uuid7,
    walletId: uuid7,
    curve,
    pathFormat: oneOf('PATH_FORMAT_BIP32'),
    path: text,
    addressFormat: format,
    address: text,
    createdAt: timestamp,
    updatedAt: timestamp,
    publicKey: hex,
    'walletDetails?': wallet,
    'name?': text,
  })(value, path);
  // Compressed: one client checks with a regular expression.
  const form = value.curve === 'CURVE_ED25519' ? /^[0-9a-f]{64}$/ : /^0[23][0-9a-f]{64}$/;
  assert.match(value.publicKey, form, `${path}.publicKey`);
};

const privateKey = (value, path) => {
  record({
    privateKeyId: uuid7,
    publicKey: hex,
    privateKeyName: text,
    curve,
    addresses: list(record({ format, address: text })),
    privateKeyTags: list(uuid7),
    createdAt: timestamp,
    updatedAt: timestamp,
    exported: bool,
    imported: bool,
  })(value, path);
  // Not compressed: one client compresses it.
  const form = value.curve === 'CURVE_ED25519' ? /^[0-9a-f]{64}$/ : /^04[0-9a-f]{128}$/;
  assert.match(value.publicKey, form, `${path}.publicKey`);
};

const signature = record({
  r: (value, path) => assert.match(value, /^[0-9a-f]{64}$/, path),
  s: (value, path) => assert.match(value, /^[0-9a-f]{64}$/, path),
  v: oneOf('00', '01'),
});

const policy = record({
  policyId: uuid7,
  policyName: text,
  effect: oneOf('EFFECT_ALLOW', 'EFFECT_DENY'),
  createdAt: timestamp,
  updatedAt: timestamp,
  notes: text,
  consensus: text,
  condition: text,
  'time?': text,
});

const evaluations = record({
  id: uuid7,
  activityId: uuid7,
  organizationId: uuid7,
  voteId: uuid7,
  policyEvaluations: list(
    record({
      policyId: uuid7,
      outcome: oneOf(
        'OUTCOME_ALLOW',
        'OUTCOME_DENY_EXPLICIT',
        'OUTCOME_DENY_IMPLICIT',
        'OUTCOME_REQUIRES_CONSENSUS',
        'OUTCOME_ERROR',
        'OUTCOME_TIME_INACTIVE',
      ),
    }),
  ),
  createdAt: timestamp,
});

const contractInterface = record({
  organizationId: uuid7,
  smartContractInterfaceId: uuid7,
  smartContractAddress: text,
  smartContractInterface: text,
  type: oneOf('SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA'),
  label: text,
  notes: text,
  createdAt: timestamp,
  updatedAt: timestamp,
});

const vote = (value, path) => {
  record({
    id: uuid7,
    userId: uuid7,
    user,
    activityId: uuid7,
    selection: oneOf('VOTE_SELECTION_APPROVED', 'VOTE_SELECTION_REJECTED'),
    message: text,
    publicKey: text,
    signature: text,
    scheme: text,
    createdAt: timestamp,
  })(value, path);
  if (value.scheme !== 'SIGNATURE_SCHEME_TK_WEBAUTHN') {
    hex(value.publicKey, `${path}.publicKey`);
    hex(value.signature, `${path}.signature`);
    return;
  }
  // Of a passkey, all that is needed to check it.
  base64url(value.publicKey, `${path}.publicKey`);
  record({ credentialId: base64url, clientDataJson: base64url, authenticatorData: base64url, signature: base64url })(
    JSON.parse(value.signature),
    `${path}.signature`,
  );
};

const status = record({ code: number, message: text, details: list(record({})) });

const activity = record({
  id: uuid7,
  organizationId: uuid7,
  status: oneOf(
    'ACTIVITY_STATUS_CREATED',
    'ACTIVITY_STATUS_PENDING',
    'ACTIVITY_STATUS_COMPLETED',
    'ACTIVITY_STATUS_FAILED',
    'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    'ACTIVITY_STATUS_REJECTED',
    'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
  ),
  type: text,
  timestampMs: digits,
  intent: record({}),
  result: record({}),
  votes: list(vote),
  fingerprint: (value, path) => assert.match(value, /^sha256:[0-9a-f]{64}$/, path),
  canApprove: bool,
  canReject: bool,
  createdAt: timestamp,
  updatedAt: timestamp,
  'failure?': (value, path) => value === null || status(value, path),
});

const configs = record({
  features: list(record({ 'name?': text, 'value?': text })),
  quorum: record({ threshold: number, userIds: list(uuid7) }),
});

const whoami = record({ organizationId: uuid7, organizationName: text, userId: uuid7, username: text });

const error = record({ code: number, message: text, details: list(record({ '@type': text })), 'turnkeyErrorCode?': text });

const checks = {
  activity,
  apiKey,
  authenticator,
  configs,
  contractInterface,
  error,
  evaluations,
  oauthProvider,
  policy,
  privateKey,
  signature,
  tag,
  user,
  wallet,
  walletAccount,
  whoami,
};
export const shape = Object.fromEntries(
  Object.entries(checks).map(([name, check]) => [name, (value) => (check(value, name), value)]),
);
