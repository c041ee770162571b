// Written by make console from the OpenAPI document; do not edit.

export type APIKey = {
  apiKeyId: string;
  apiKeyName: string;
  createdAt: Timestamp;
  credential: Credential;
  expirationSeconds?: string;
  updatedAt: Timestamp;
};

export type APIKeyParamsV2 = {
  apiKeyName: string;
  curveType: 'API_KEY_CURVE_P256' | 'API_KEY_CURVE_SECP256K1' | 'API_KEY_CURVE_ED25519';
  expirationSeconds?: string;
  publicKey: string;
};

export type APIOnlyUserParams = { apiKeys: Array<P256APIKeyParams>; userEmail?: string; userName: string; userTags: Array<string> };

export type AccountParams = {
  addressFormat: 'ADDRESS_FORMAT_UNCOMPRESSED' | 'ADDRESS_FORMAT_COMPRESSED' | 'ADDRESS_FORMAT_ETHEREUM' | 'ADDRESS_FORMAT_SOLANA' | 'ADDRESS_FORMAT_COSMOS' | 'ADDRESS_FORMAT_TRON' | 'ADDRESS_FORMAT_SUI' | 'ADDRESS_FORMAT_APTOS' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR' | 'ADDRESS_FORMAT_SEI' | 'ADDRESS_FORMAT_XLM' | 'ADDRESS_FORMAT_DOGE_MAINNET' | 'ADDRESS_FORMAT_DOGE_TESTNET' | 'ADDRESS_FORMAT_TON_V3R2' | 'ADDRESS_FORMAT_TON_V4R2' | 'ADDRESS_FORMAT_TON_V5R1' | 'ADDRESS_FORMAT_XRP' | 'ADDRESS_FORMAT_SPARK_MAINNET' | 'ADDRESS_FORMAT_SPARK_REGTEST';
  curve: 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';
  name?: string;
  path: string;
  pathFormat: 'PATH_FORMAT_BIP32';
};

export type Address = {
  address: string;
  format: 'ADDRESS_FORMAT_UNCOMPRESSED' | 'ADDRESS_FORMAT_COMPRESSED' | 'ADDRESS_FORMAT_ETHEREUM' | 'ADDRESS_FORMAT_SOLANA' | 'ADDRESS_FORMAT_COSMOS' | 'ADDRESS_FORMAT_TRON' | 'ADDRESS_FORMAT_SUI' | 'ADDRESS_FORMAT_APTOS' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR' | 'ADDRESS_FORMAT_SEI' | 'ADDRESS_FORMAT_XLM' | 'ADDRESS_FORMAT_DOGE_MAINNET' | 'ADDRESS_FORMAT_DOGE_TESTNET' | 'ADDRESS_FORMAT_TON_V3R2' | 'ADDRESS_FORMAT_TON_V4R2' | 'ADDRESS_FORMAT_TON_V5R1' | 'ADDRESS_FORMAT_XRP' | 'ADDRESS_FORMAT_SPARK_MAINNET' | 'ADDRESS_FORMAT_SPARK_REGTEST';
};

export type AttestationParams = {
  attestationObject: string;
  clientDataJson: string;
  credentialId: string;
  transports: Array<'AUTHENTICATOR_TRANSPORT_BLE' | 'AUTHENTICATOR_TRANSPORT_INTERNAL' | 'AUTHENTICATOR_TRANSPORT_NFC' | 'AUTHENTICATOR_TRANSPORT_USB' | 'AUTHENTICATOR_TRANSPORT_HYBRID'>;
};

export type AuthProxyMail = {
  appName?: string;
  logoUrl?: string;
  magicLinkTemplate?: string;
  templateId?: string;
  templateVariables?: string;
};

export type AuthenticationMethod = {
  id?: string;
  type: 'AUTHENTICATION_TYPE_EMAIL_OTP' | 'AUTHENTICATION_TYPE_SMS_OTP' | 'AUTHENTICATION_TYPE_PASSKEY' | 'AUTHENTICATION_TYPE_API_KEY' | 'AUTHENTICATION_TYPE_OAUTH' | 'AUTHENTICATION_TYPE_SESSION';
};

export type Authenticator = {
  aaguid: string;
  attestationType: string;
  authenticatorId: string;
  authenticatorName: string;
  createdAt: Timestamp;
  credential: Credential;
  credentialId: string;
  model: string;
  transports: Array<string>;
  updatedAt: Timestamp;
};

export type AuthenticatorParamsV2 = { attestation: AttestationParams; authenticatorName: string; challenge: string };

export type BacktestPosition = { after?: string; limit?: string };

export type BothExplanations = { after: ExplainReply; before: ExplainReply };

export type ClientSignature = {
  message: string;
  publicKey: string;
  scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256';
  signature: string;
};

export type Configs = { features: Array<Feature>; quorum: Quorum };

export type ContractInterface = {
  createdAt: Timestamp;
  decimals?: string;
  label: string;
  notes: string;
  organizationId: string;
  smartContractAddress: string;
  smartContractInterface: string;
  smartContractInterfaceId: string;
  symbol?: string;
  type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM' | 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA';
  updatedAt: Timestamp;
};

export type ContractInterfaceReference = { digest: string; smartContractAddress: string; smartContractInterfaceId: string };

export type ControlEvaluation = {
  after?: string;
  groupId?: string;
  holds: boolean;
  identifier: string;
  left?: string;
  number?: string;
  unreadable?: string;
  used?: string;
  velocityControlId: string;
};

export type ControlFinding = { code: string; message: string };

export type CountedControl = { groups: Array<CountedGroup>; identifier: string; unreadable: string; velocityControlId: string };

export type CountedGroup = { groupId: string; history?: Array<CountedPoint>; left?: string; nextMs?: string; used: string };

export type CountedPoint = { atMs: string; used: string };

export type CreateWalletParams = { accounts: Array<AccountParams>; mnemonicLength?: 12 | 15 | 18 | 21 | 24; walletName: string };

export type CreateWalletResult = { addresses: Array<string>; walletId: string };

export type CreatedPrivateKey = { addresses: Array<Address>; privateKeyId: string };

export type Credential = { publicKey: string; sessionProfileId?: string; type: string };

export type Difference = {
  activityId: string;
  after: 'ALLOW' | 'DENY' | 'PENDING';
  before: 'ALLOW' | 'DENY' | 'PENDING';
  explanation: BothExplanations;
  status: 'ACTIVITY_STATUS_CREATED' | 'ACTIVITY_STATUS_PENDING' | 'ACTIVITY_STATUS_COMPLETED' | 'ACTIVITY_STATUS_FAILED' | 'ACTIVITY_STATUS_CONSENSUS_NEEDED' | 'ACTIVITY_STATUS_REJECTED' | 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';
  type: string;
};

export type EmailAuthCustomization = {
  appName: string;
  logoUrl?: string;
  magicLinkTemplate?: string;
  templateId?: string;
  templateVariables?: string;
};

export type EmailCustomizationV2 = { logoUrl?: string; magicLinkTemplate?: string; templateId?: string; templateVariables?: string };

export type EmailEvent = {
  createdAt: string;
  details: EmailEventDetails;
  eventType: 'Send' | 'Delivery' | 'DeliveryDelay' | 'Bounce';
  fromAddress: string;
  id: string;
  messageId: string;
  organizationId: string;
  timestamp: string;
  toAddress: string;
};

export type EmailEventDetails = { diagnosticCode?: string };

export type EventView = {
  activity: View;
  cursor: string;
  eventId: string;
  eventType: 'ACTIVITY_UPDATES';
  organizationId: string;
};

export type ExplainReply = {
  canApprove: Array<ExplainedVoter>;
  controls?: Array<ControlEvaluation>;
  outcome: 'ALLOW' | 'DENY' | 'PENDING';
  policies: Array<ExplainedPolicy>;
  reason: string;
  rootQuorum: ExplainedQuorum;
};

export type ExplainedPolicy = {
  condition: Array<ExplainedStep>;
  consensus: Array<ExplainedStep>;
  denies?: boolean;
  effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
  outcome: string;
  policyId?: string;
  policyName: string;
  reason?: string;
  time: Array<ExplainedStep>;
};

export type ExplainedQuorum = { approved: Array<string>; threshold: number; userIds: Array<string> };

export type ExplainedStep = { bound?: string; error?: string; offset: number; source: string; value?: string };

export type ExplainedVoter = { userId: string; userName: string };

export type ExportSecretParams = {
  encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
  requestContext?: Array<KeyValue>;
  secretId: string;
  targetPublicKey: string;
};

export type Feature = { name: string; value: string };

export type Finding = { code: string; message: string; offset: number; place: string; policyName: string };

export type IPAllowlist = {
  enabled?: boolean;
  onEvaluationError: 'ALLOW' | 'DENY';
  organizationId: string;
  publicKey?: string;
  rules: Array<IPRule>;
};

export type IPAllowlistRule = { cidr: string; label?: string };

export type IPRule = { cidr: string; createdAt: string; label: string };

export type ImportSecretParams = {
  encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
  name?: string;
  secretPayload: string;
  staticProperties?: Array<KeyValue>;
  targetPublicKey: string;
};

export type InvitationParams = {
  accessType: 'ACCESS_TYPE_WEB' | 'ACCESS_TYPE_API' | 'ACCESS_TYPE_ALL';
  receiverUserEmail: string;
  receiverUserName: string;
  receiverUserTags: Array<string>;
  senderUserId: string;
};

export type KeyValue = { key: string; value: string };

export type ListedWebhookEndpoint = {
  endpointId: string;
  isActive: boolean;
  lastDeliveredMs?: string;
  lastError?: string;
  name: string;
  organizationId: string;
  state: 'DELIVERING' | 'RETRYING' | 'PAUSED' | 'SWITCHED_OFF';
  subscriptions: Array<WebhookSubscription>;
  url: string;
  waiting: number;
};

export type MfaPolicy = {
  condition: string;
  createdAt: Timestamp;
  mfaPolicyId: string;
  mfaPolicyName: string;
  notes?: string;
  order: number;
  requiredAuthenticationMethods: Array<RequiredMethods>;
  updatedAt: Timestamp;
};

export type MfaStatus = {
  mfaPolicyId: string;
  requiredMethods: Array<RequiredMethods>;
  satisfied: boolean;
  satisfiedMethods: Array<AuthenticationMethod>;
  userId: string;
};

export type Nothing = Record<string, unknown>;

export type OAuth2Credential = {
  clientId: string;
  createdAt: Timestamp;
  encryptedClientSecret: string;
  oauth2CredentialId: string;
  organizationId: string;
  provider: 'OAUTH2_PROVIDER_X' | 'OAUTH2_PROVIDER_DISCORD';
  updatedAt: Timestamp;
};

export type OauthProvider = {
  audience: string;
  createdAt: Timestamp;
  issuer: string;
  providerId: string;
  providerName: string;
  subject: string;
  updatedAt: Timestamp;
};

export type OauthProviderParamsV2 = { oidcClaims?: OidcClaims; oidcToken?: string; providerName: string };

export type OidcClaims = { aud: string; iss: string; sub: string };

export type OrganizationData = {
  features: Array<Feature>;
  name: string;
  organizationId: string;
  policies: Array<Policy>;
  privateKeys: Array<PrivateKey>;
  rootQuorum: Quorum;
  smartContractInterfaceReferences: Array<ContractInterfaceReference>;
  tags: Array<Tag>;
  users: Array<User>;
  wallets: Array<Wallet>;
};

export type P256APIKeyParams = { apiKeyName: string; expirationSeconds?: string; publicKey: string };

export type PageInfo = { endCursor?: string; hasNextPage: boolean; hasPreviousPage: boolean; startCursor?: string };

export type Pagination = { after?: string; before?: string; limit?: string };

export type Policy = {
  condition: string;
  consensus: string;
  createdAt: Timestamp;
  effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
  notes: string;
  policyId: string;
  policyName: string;
  time?: string;
  updatedAt: Timestamp;
};

export type PolicyEvaluation = { outcome: string; policyId: string; reason?: string };

export type PolicyParams = {
  condition?: string;
  consensus?: string;
  effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
  notes: string;
  policyName: string;
  time?: string;
};

export type PolicyStatus = { active: boolean; error?: string; organizationId: string; policyId: string; timeExpr?: string };

export type PrivateKey = {
  addresses: Array<Address>;
  createdAt: Timestamp;
  curve: 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';
  exported: boolean;
  imported: boolean;
  privateKeyId: string;
  privateKeyName: string;
  privateKeyTags: Array<string>;
  publicKey: string;
  updatedAt: Timestamp;
};

export type PrivateKeyParams = {
  addressFormats: Array<'ADDRESS_FORMAT_UNCOMPRESSED' | 'ADDRESS_FORMAT_COMPRESSED' | 'ADDRESS_FORMAT_ETHEREUM' | 'ADDRESS_FORMAT_SOLANA' | 'ADDRESS_FORMAT_COSMOS' | 'ADDRESS_FORMAT_TRON' | 'ADDRESS_FORMAT_SUI' | 'ADDRESS_FORMAT_APTOS' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR' | 'ADDRESS_FORMAT_SEI' | 'ADDRESS_FORMAT_XLM' | 'ADDRESS_FORMAT_DOGE_MAINNET' | 'ADDRESS_FORMAT_DOGE_TESTNET' | 'ADDRESS_FORMAT_TON_V3R2' | 'ADDRESS_FORMAT_TON_V4R2' | 'ADDRESS_FORMAT_TON_V5R1' | 'ADDRESS_FORMAT_XRP' | 'ADDRESS_FORMAT_SPARK_MAINNET' | 'ADDRESS_FORMAT_SPARK_REGTEST'>;
  curve: 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';
  privateKeyName: string;
  privateKeyTags: Array<string>;
};

export type Quorum = { threshold: number; userIds: Array<string> };

export type ReceiptView = { proof: string; record: string; salt: string };

export type RequiredMethodParams = {
  id?: string;
  type: 'AUTHENTICATION_TYPE_EMAIL_OTP' | 'AUTHENTICATION_TYPE_SMS_OTP' | 'AUTHENTICATION_TYPE_PASSKEY' | 'AUTHENTICATION_TYPE_API_KEY' | 'AUTHENTICATION_TYPE_OAUTH' | 'AUTHENTICATION_TYPE_SESSION';
};

export type RequiredMethods = { any: Array<AuthenticationMethod> };

export type RequiredMethodsParams = { any: Array<RequiredMethodParams> };

export type RootUserParamsV5 = {
  apiKeys?: Array<APIKeyParamsV2>;
  authenticators?: Array<AuthenticatorParamsV2>;
  oauthProviders?: Array<OauthProviderParamsV2>;
  userEmail?: string;
  userName: string;
  userPhoneNumber?: string;
};

export type SMSCustomization = { template?: string };

export type Secret = { createdAtUnixMs: string; name?: string; secretId: string; staticProperties: Array<KeyValue> };

export type SessionProfileRecord = {
  createdAt: Timestamp;
  expirationSeconds?: string;
  notes?: string;
  scope: string;
  sessionProfileId: string;
  sessionProfileName: string;
  updatedAt: Timestamp;
};

export type SignatureResult = { r: string; s: string; v: string };

export type SupposedControl = {
  aggregation: VelocityAggregation;
  dataSource: VelocityDataSource;
  identifier: string;
  name?: string;
};

export type SupposedPolicy = {
  condition?: string;
  consensus?: string;
  effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
  notes?: string;
  policyName: string;
  time?: string;
};

export type Tag = { createdAt: Timestamp; tagId: string; tagName: string; tagType: string; updatedAt: Timestamp };

export type Timestamp = { nanos: string; seconds: string };

export type User = {
  apiKeys: Array<APIKey>;
  authenticators: Array<Authenticator>;
  createdAt: Timestamp;
  mfaPolicies: Array<MfaPolicy>;
  oauthProviders: Array<OauthProvider>;
  updatedAt: Timestamp;
  userEmail?: string;
  userId: string;
  userName: string;
  userPhoneNumber?: string;
  userTags: Array<string>;
};

export type UserParamsV4 = {
  apiKeys?: Array<APIKeyParamsV2>;
  authenticators?: Array<AuthenticatorParamsV2>;
  oauthProviders?: Array<OauthProviderParamsV2>;
  userEmail?: string;
  userName: string;
  userPhoneNumber?: string;
  userTags?: Array<string>;
};

export type VelocityActivity = { activityType: string };

export type VelocityAggregation = {
  groupBy: VelocityGroupBy;
  method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM' | 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT';
  operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN' | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL' | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_EQUAL' | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN_OR_EQUAL' | 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_GREATER_THAN';
  threshold: string;
  window: VelocityWindow;
};

export type VelocityAsset = { caip19: string; decimals: string };

export type VelocityCalendar = { timezone: string; unit: 'DAY' | 'WEEK' | 'MONTH' };

export type VelocityControl = {
  aggregation: VelocityAggregation;
  createdAt: Timestamp;
  dataSource: VelocityDataSource;
  identifier: string;
  name: string;
  organizationId: string;
  updatedAt: Timestamp;
  velocityControlId: string;
};

export type VelocityDataSource = { activityExecution?: VelocityExecutions; chainAssetTransfer?: VelocityTransfers };

export type VelocityExecutions = { filter?: VelocityFilter };

export type VelocityFilter = { activity?: Array<VelocityActivity> };

export type VelocityGroupBy = { organization?: Nothing; user?: Nothing; wallet?: Nothing };

export type VelocityPhase = { signature?: Nothing; submission?: Nothing };

export type VelocityRolling = { duration: string };

export type VelocityTransfers = { definition: Array<VelocityAsset>; filter?: VelocityFilter; phase?: VelocityPhase };

export type VelocityWindow = { calendar?: VelocityCalendar; infinite?: Nothing; rolling?: VelocityRolling };

export type View = {
  appProofs: Array<unknown>;
  canApprove: boolean;
  canReject: boolean;
  createdAt: Timestamp;
  failure?: unknown;
  fingerprint: string;
  id: string;
  intent: Record<string, unknown>;
  organizationId: string;
  result: Record<string, unknown>;
  status: 'ACTIVITY_STATUS_CREATED' | 'ACTIVITY_STATUS_PENDING' | 'ACTIVITY_STATUS_COMPLETED' | 'ACTIVITY_STATUS_FAILED' | 'ACTIVITY_STATUS_CONSENSUS_NEEDED' | 'ACTIVITY_STATUS_REJECTED' | 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';
  timestampMs: string;
  type: string;
  updatedAt: Timestamp;
  votes: Array<VoteView>;
};

export type VoteEvaluation = {
  activityId: string;
  controls?: Array<ControlEvaluation>;
  createdAt: Timestamp;
  id: string;
  organizationId: string;
  policyEvaluations: Array<PolicyEvaluation>;
  voteId: string;
};

export type VoteView = {
  activityId: string;
  createdAt: Timestamp;
  id: string;
  message: string;
  publicKey: string;
  scheme: string;
  selection: string;
  signature: string;
  user: User;
  userId: string;
};

export type Wallet = {
  createdAt: Timestamp;
  exported: boolean;
  imported: boolean;
  updatedAt: Timestamp;
  walletId: string;
  walletName: string;
};

export type WalletAccount = {
  address: string;
  addressFormat: 'ADDRESS_FORMAT_UNCOMPRESSED' | 'ADDRESS_FORMAT_COMPRESSED' | 'ADDRESS_FORMAT_ETHEREUM' | 'ADDRESS_FORMAT_SOLANA' | 'ADDRESS_FORMAT_COSMOS' | 'ADDRESS_FORMAT_TRON' | 'ADDRESS_FORMAT_SUI' | 'ADDRESS_FORMAT_APTOS' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR' | 'ADDRESS_FORMAT_SEI' | 'ADDRESS_FORMAT_XLM' | 'ADDRESS_FORMAT_DOGE_MAINNET' | 'ADDRESS_FORMAT_DOGE_TESTNET' | 'ADDRESS_FORMAT_TON_V3R2' | 'ADDRESS_FORMAT_TON_V4R2' | 'ADDRESS_FORMAT_TON_V5R1' | 'ADDRESS_FORMAT_XRP' | 'ADDRESS_FORMAT_SPARK_MAINNET' | 'ADDRESS_FORMAT_SPARK_REGTEST';
  caip2Prefix?: string;
  createdAt: Timestamp;
  curve: 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';
  name?: string;
  organizationId: string;
  path: string;
  pathFormat: 'PATH_FORMAT_BIP32';
  publicKey?: string;
  updatedAt: Timestamp;
  walletAccountId: string;
  walletDetails?: Wallet;
  walletId: string;
};

export type WalletKitSettings = {
  enabledSocialProviders?: Array<'google' | 'apple' | 'facebook' | 'x' | 'discord'>;
  oauthClientIds?: Record<string, unknown>;
  oauthRedirectUrl?: string;
};

export type WebhookEndpoint = {
  endpointId: string;
  isActive: boolean;
  name: string;
  organizationId: string;
  subscriptions: Array<WebhookSubscription>;
  url: string;
};

export type WebhookSubscription = { eventType: string; filtersJson?: string; isActive?: boolean };
