// Written by make console from the OpenAPI document; do not edit.

import type {
  APIKeyParamsV2,
  APIOnlyUserParams,
  AccountParams,
  Address,
  AuthProxyMail,
  AuthenticatorParamsV2,
  ClientSignature,
  ControlFinding,
  CreateWalletParams,
  CreateWalletResult,
  CreatedPrivateKey,
  EmailAuthCustomization,
  EmailCustomizationV2,
  ExportSecretParams,
  Feature,
  Finding,
  IPAllowlistRule,
  ImportSecretParams,
  InvitationParams,
  OauthProviderParamsV2,
  PolicyParams,
  PrivateKeyParams,
  RequiredMethodsParams,
  RootUserParamsV5,
  SMSCustomization,
  SignatureResult,
  UserParamsV4,
  VelocityAggregation,
  VelocityDataSource,
  WalletKitSettings,
  WebhookEndpoint,
  WebhookSubscription,
} from './models';

export interface Activities {
  approve_activity: { parameters: { fingerprint: string }; result: Record<string, unknown> };
  create_api_keys: { parameters: { apiKeys: Array<APIKeyParamsV2>; userId: string }; result: { apiKeyIds: Array<string> } };
  create_api_only_users: { parameters: { apiOnlyUsers: Array<APIOnlyUserParams> }; result: { userIds: Array<string> } };
  create_authenticators: { parameters: { authenticators: Array<AuthenticatorParamsV2>; userId: string }; result: { authenticatorIds: Array<string> } };
  create_invitations: { parameters: { invitations: Array<InvitationParams> }; result: { invitationIds: Array<string> } };
  create_mfa_policy: { parameters: {
    condition: string;
    mfaPolicyName: string;
    notes?: string;
    order: number;
    requiredAuthenticationMethods: Array<RequiredMethodsParams>;
    userId: string;
  }; result: { mfaPolicyId: string } };
  create_oauth2_credential: { parameters: {
    clientId: string;
    encryptedClientSecret: string;
    provider: 'OAUTH2_PROVIDER_X' | 'OAUTH2_PROVIDER_DISCORD';
  }; result: { oauth2CredentialId: string } };
  create_oauth_providers: { parameters: { oauthProviders: Array<OauthProviderParamsV2>; userId: string }; result: { providerIds: Array<string> } };
  create_policies: { parameters: { policies: Array<PolicyParams> }; result: { findings?: Array<Finding>; policyIds: Array<string> } };
  create_policy: { parameters: {
    condition?: string;
    consensus?: string;
    effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
    notes: string;
    policyName: string;
    time?: string;
  }; result: { findings?: Array<Finding>; policyId: string } };
  create_private_key_tag: { parameters: { privateKeyIds: Array<string>; privateKeyTagName: string }; result: { privateKeyIds: Array<string>; privateKeyTagId: string } };
  create_private_keys: { parameters: { privateKeys: Array<PrivateKeyParams> }; result: { privateKeys: Array<CreatedPrivateKey> } };
  create_read_only_session: { parameters: Record<string, unknown>; result: {
    organizationId: string;
    organizationName: string;
    session: string;
    sessionExpiry: string;
    userId: string;
    username: string;
  } };
  create_read_write_session: { parameters: {
    apiKeyName?: string;
    expirationSeconds?: string;
    invalidateExisting?: boolean;
    targetPublicKey: string;
    userId?: string;
  }; result: {
    apiKeyId: string;
    credentialBundle: string;
    organizationId: string;
    organizationName: string;
    userId: string;
    username: string;
  } };
  create_session_profile: { parameters: { expirationSeconds?: string; notes?: string; scope: string; sessionProfileName: string }; result: { sessionProfileId: string } };
  create_smart_contract_interface: { parameters: {
    decimals?: string;
    label: string;
    notes?: string;
    smartContractAddress: string;
    smartContractInterface: string;
    symbol?: string;
    type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM' | 'SMART_CONTRACT_INTERFACE_TYPE_SOLANA';
  }; result: { smartContractInterfaceId: string } };
  create_sub_organization: { parameters: {
    clientSignature?: ClientSignature;
    disableEmailAuth?: boolean;
    disableEmailRecovery?: boolean;
    disableOtpEmailAuth?: boolean;
    disableSmsAuth?: boolean;
    rootQuorumThreshold: number;
    rootUsers: Array<RootUserParamsV5>;
    subOrganizationName: string;
    verificationToken?: string;
    wallet?: CreateWalletParams;
  }; result: {
    privateKeys?: Array<CreatedPrivateKey>;
    rootUserIds: Array<string>;
    subOrganizationId: string;
    wallet?: CreateWalletResult;
  } };
  create_user_tag: { parameters: { userIds: Array<string>; userTagName: string }; result: { userIds: Array<string>; userTagId: string } };
  create_users: { parameters: { users: Array<UserParamsV4> }; result: { userIds: Array<string> } };
  create_velocity_control: { parameters: {
    aggregation: VelocityAggregation;
    dataSource: VelocityDataSource;
    identifier: string;
    name: string;
  }; result: { findings?: Array<ControlFinding>; velocityControlId: string } };
  create_wallet: { parameters: { accounts: Array<AccountParams>; mnemonicLength?: 12 | 15 | 18 | 21 | 24; walletName: string }; result: { addresses: Array<string>; walletId: string } };
  create_wallet_accounts: { parameters: { accounts: Array<AccountParams>; persist?: boolean; walletId: string }; result: { addresses: Array<string> } };
  create_webhook_endpoint: { parameters: { name: string; subscriptions: Array<WebhookSubscription>; url: string }; result: { endpointId: string; webhookEndpoint: WebhookEndpoint } };
  delete_api_keys: { parameters: { apiKeyIds: Array<string>; userId: string }; result: { apiKeyIds: Array<string> } };
  delete_authenticators: { parameters: { authenticatorIds: Array<string>; userId: string }; result: { authenticatorIds: Array<string> } };
  delete_invitation: { parameters: { invitationId: string }; result: { invitationId: string } };
  delete_mfa_policy: { parameters: { mfaPolicyId: string; userId: string }; result: { mfaPolicyId: string } };
  delete_oauth2_credential: { parameters: { oauth2CredentialId: string }; result: { oauth2CredentialId: string } };
  delete_oauth_providers: { parameters: { providerIds: Array<string>; userId: string }; result: { providerIds: Array<string> } };
  delete_policies: { parameters: { policyIds: Array<string> }; result: { policyIds: Array<string> } };
  delete_policy: { parameters: { policyId: string }; result: { policyId: string } };
  delete_private_key_tags: { parameters: { privateKeyTagIds: Array<string> }; result: { privateKeyIds: Array<string>; privateKeyTagIds: Array<string> } };
  delete_private_keys: { parameters: { deleteWithoutExport?: boolean; privateKeyIds: Array<string> }; result: { privateKeyIds: Array<string> } };
  delete_secrets: { parameters: { secretIds: Array<string> }; result: { secretIds: Array<string> } };
  delete_smart_contract_interface: { parameters: { smartContractInterfaceId: string }; result: { smartContractInterfaceId: string } };
  delete_sub_organization: { parameters: { deleteWithoutExport?: boolean }; result: { subOrganizationUuid: string } };
  delete_user_tags: { parameters: { userTagIds: Array<string> }; result: { userIds: Array<string>; userTagIds: Array<string> } };
  delete_users: { parameters: { userIds: Array<string> }; result: { userIds: Array<string> } };
  delete_velocity_control: { parameters: { velocityControlId: string }; result: { velocityControlId: string } };
  delete_wallet_accounts: { parameters: { deleteWithoutExport?: boolean; walletAccountIds: Array<string> }; result: { walletAccountIds: Array<string> } };
  delete_wallets: { parameters: { deleteWithoutExport?: boolean; walletIds: Array<string> }; result: { walletIds: Array<string> } };
  delete_webhook_endpoint: { parameters: { endpointId: string }; result: { endpointId: string } };
  disable_auth_proxy: { parameters: Record<string, unknown>; result: Record<string, unknown> };
  email_auth: { parameters: {
    apiKeyName?: string;
    email: string;
    emailCustomization: EmailAuthCustomization;
    expirationSeconds?: string;
    invalidateExisting?: boolean;
    replyToEmailAddress?: string;
    sendFromEmailAddress?: string;
    sendFromEmailSenderName?: string;
    targetPublicKey: string;
  }; result: { apiKeyId: string; userId: string } };
  enable_auth_proxy: { parameters: Record<string, unknown>; result: { userId: string } };
  export_private_key: { parameters: { privateKeyId: string; targetPublicKey: string }; result: { exportBundle: string; privateKeyId: string } };
  export_secrets: { parameters: { secrets: Array<ExportSecretParams> }; result: { secretPayloads: Array<string> } };
  export_wallet: { parameters: {
    language?: 'MNEMONIC_LANGUAGE_ENGLISH' | 'MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE' | 'MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE' | 'MNEMONIC_LANGUAGE_CZECH' | 'MNEMONIC_LANGUAGE_FRENCH' | 'MNEMONIC_LANGUAGE_ITALIAN' | 'MNEMONIC_LANGUAGE_JAPANESE' | 'MNEMONIC_LANGUAGE_KOREAN' | 'MNEMONIC_LANGUAGE_SPANISH';
    targetPublicKey: string;
    walletId: string;
  }; result: { exportBundle: string; walletId: string } };
  export_wallet_account: { parameters: { address: string; targetPublicKey: string }; result: { address: string; exportBundle: string } };
  import_private_key: { parameters: {
    addressFormats: Array<'ADDRESS_FORMAT_UNCOMPRESSED' | 'ADDRESS_FORMAT_COMPRESSED' | 'ADDRESS_FORMAT_ETHEREUM' | 'ADDRESS_FORMAT_SOLANA' | 'ADDRESS_FORMAT_COSMOS' | 'ADDRESS_FORMAT_TRON' | 'ADDRESS_FORMAT_SUI' | 'ADDRESS_FORMAT_APTOS' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH' | 'ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR' | 'ADDRESS_FORMAT_SEI' | 'ADDRESS_FORMAT_XLM' | 'ADDRESS_FORMAT_DOGE_MAINNET' | 'ADDRESS_FORMAT_DOGE_TESTNET' | 'ADDRESS_FORMAT_TON_V3R2' | 'ADDRESS_FORMAT_TON_V4R2' | 'ADDRESS_FORMAT_TON_V5R1' | 'ADDRESS_FORMAT_XRP' | 'ADDRESS_FORMAT_SPARK_MAINNET' | 'ADDRESS_FORMAT_SPARK_REGTEST'>;
    curve: 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';
    encryptedBundle: string;
    privateKeyName: string;
    userId: string;
  }; result: { addresses: Array<Address>; privateKeyId: string } };
  import_secrets: { parameters: { secrets: Array<ImportSecretParams> }; result: { secretIds: Array<string> } };
  import_wallet: { parameters: { accounts: Array<AccountParams>; encryptedBundle: string; userId: string; walletName: string }; result: { addresses: Array<string>; walletId: string } };
  init_import_private_key: { parameters: { userId: string }; result: { importBundle: string } };
  init_import_secrets: { parameters: { encryptionSuite: 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1'; numSecrets: number }; result: { enclaveTargetMessages: Array<string> } };
  init_import_wallet: { parameters: { userId: string }; result: { importBundle: string } };
  init_otp: { parameters: {
    alphanumeric?: boolean;
    appName: string;
    contact: string;
    emailCustomization?: EmailCustomizationV2;
    expirationSeconds?: string;
    otpLength?: number;
    otpType: 'OTP_TYPE_EMAIL' | 'OTP_TYPE_SMS';
    replyToEmailAddress?: string;
    sendFromEmailAddress?: string;
    sendFromEmailSenderName?: string;
    smsCustomization?: SMSCustomization;
    userIdentifier?: string;
  }; result: { otpEncryptionTargetBundle: string; otpId: string } };
  init_otp_auth: { parameters: {
    alphanumeric?: boolean;
    appName: string;
    contact: string;
    emailCustomization?: EmailCustomizationV2;
    expirationSeconds?: string;
    otpLength?: number;
    otpType: 'OTP_TYPE_EMAIL' | 'OTP_TYPE_SMS';
    replyToEmailAddress?: string;
    sendFromEmailAddress?: string;
    sendFromEmailSenderName?: string;
    smsCustomization?: SMSCustomization;
    userIdentifier?: string;
  }; result: { otpId: string } };
  init_user_email_recovery: { parameters: {
    email: string;
    emailCustomization: EmailAuthCustomization;
    expirationSeconds?: string;
    replyToEmailAddress?: string;
    sendFromEmailAddress?: string;
    sendFromEmailSenderName?: string;
    targetPublicKey: string;
  }; result: { userId: string } };
  oauth: { parameters: {
    apiKeyName?: string;
    expirationSeconds?: string;
    invalidateExisting?: boolean;
    oidcToken: string;
    targetPublicKey: string;
  }; result: { apiKeyId: string; credentialBundle: string; userId: string } };
  oauth2_authenticate: { parameters: {
    authCode: string;
    bearerTokenTargetPublicKey?: string;
    codeVerifier: string;
    nonce: string;
    oauth2CredentialId: string;
    redirectUri: string;
  }; result: { oidcToken: string } };
  oauth_login: { parameters: {
    expirationSeconds?: string;
    invalidateExisting?: boolean;
    oidcToken: string;
    publicKey: string;
    sessionProfileId?: string;
  }; result: { session: string } };
  otp_auth: { parameters: {
    apiKeyName?: string;
    expirationSeconds?: string;
    invalidateExisting?: boolean;
    otpCode: string;
    otpId: string;
    targetPublicKey: string;
  }; result: { apiKeyId: string; credentialBundle: string; userId: string } };
  otp_login: { parameters: {
    clientSignature: ClientSignature;
    expirationSeconds?: string;
    invalidateExisting?: boolean;
    publicKey: string;
    sessionProfileId?: string;
    verificationToken: string;
  }; result: { session: string } };
  recover_user: { parameters: { authenticator: AuthenticatorParamsV2; userId: string }; result: { authenticatorId: Array<string> } };
  reject_activity: { parameters: { fingerprint: string }; result: Record<string, unknown> };
  remove_ip_allowlist: { parameters: { publicKey?: string }; result: Record<string, unknown> };
  remove_organization_feature: { parameters: {
    name: 'FEATURE_NAME_EMAIL_AUTH' | 'FEATURE_NAME_EMAIL_RECOVERY' | 'FEATURE_NAME_OTP_EMAIL_AUTH' | 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY' | 'FEATURE_NAME_SESSIONS_ADD_NO_CREDENTIALS' | 'FEATURE_NAME_SMS_AUTH' | 'FEATURE_NAME_WEBAUTHN_ORIGINS' | 'FEATURE_NAME_WEBHOOK';
  }; result: { features: Array<Feature> } };
  replay_webhook_endpoint: { parameters: { after?: string; endpointId: string; sinceMs?: string }; result: { endpointId: string } };
  set_ip_allowlist: { parameters: {
    enabled?: boolean;
    onEvaluationError?: 'ALLOW' | 'DENY';
    publicKey?: string;
    rules?: Array<IPAllowlistRule>;
  }; result: Record<string, unknown> };
  set_organization_feature: { parameters: {
    name: 'FEATURE_NAME_EMAIL_AUTH' | 'FEATURE_NAME_EMAIL_RECOVERY' | 'FEATURE_NAME_OTP_EMAIL_AUTH' | 'FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY' | 'FEATURE_NAME_SESSIONS_ADD_NO_CREDENTIALS' | 'FEATURE_NAME_SMS_AUTH' | 'FEATURE_NAME_WEBAUTHN_ORIGINS' | 'FEATURE_NAME_WEBHOOK';
    value?: string;
  }; result: { features: Array<Feature> } };
  sign_raw_payload: { parameters: {
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL' | 'PAYLOAD_ENCODING_TEXT_UTF8' | 'PAYLOAD_ENCODING_EIP712' | 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION';
    hashFunction: 'HASH_FUNCTION_NO_OP' | 'HASH_FUNCTION_SHA256' | 'HASH_FUNCTION_KECCAK256' | 'HASH_FUNCTION_NOT_APPLICABLE';
    payload: string;
    signWith: string;
  }; result: { r: string; s: string; v: string } };
  sign_raw_payloads: { parameters: {
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL' | 'PAYLOAD_ENCODING_TEXT_UTF8' | 'PAYLOAD_ENCODING_EIP712' | 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION';
    hashFunction: 'HASH_FUNCTION_NO_OP' | 'HASH_FUNCTION_SHA256' | 'HASH_FUNCTION_KECCAK256' | 'HASH_FUNCTION_NOT_APPLICABLE';
    payloads: Array<string>;
    signWith: string;
  }; result: { signatures: Array<SignatureResult> } };
  sign_transaction: { parameters: {
    signWith: string;
    type: 'TRANSACTION_TYPE_ETHEREUM' | 'TRANSACTION_TYPE_SOLANA' | 'TRANSACTION_TYPE_TRON' | 'TRANSACTION_TYPE_BITCOIN';
    unsignedTransaction: string;
  }; result: { signedTransaction: string } };
  stamp_login: { parameters: {
    expirationSeconds?: string;
    invalidateExisting?: boolean;
    publicKey: string;
    sessionProfileId?: string;
  }; result: { session: string } };
  update_auth_proxy_config: { parameters: {
    allowedAuthMethods?: Array<'email' | 'sms' | 'passkey' | 'wallet' | 'google' | 'apple' | 'facebook' | 'x' | 'discord'>;
    allowedOrigins?: Array<string>;
    captchaEnabled?: boolean;
    emailAuthTemplateId?: string;
    emailCustomizationParams?: AuthProxyMail;
    otpAlphanumeric?: boolean;
    otpExpirationSeconds?: number;
    otpLength?: number;
    otpTemplateId?: string;
    replyToEmailAddress?: unknown | unknown;
    sendFromEmailAddress?: unknown | unknown;
    sendFromEmailSenderName?: unknown | unknown;
    sessionExpirationSeconds?: number;
    smsCustomizationParams?: SMSCustomization;
    socialLinkingClientIds?: Array<string>;
    verificationTokenExpirationSeconds?: number;
    verificationTokenRequiredForGetAccountPii?: boolean;
    walletKitSettings?: WalletKitSettings;
  }; result: { configId: string } };
  update_mfa_policy: { parameters: {
    condition?: string;
    mfaPolicyId: string;
    mfaPolicyName?: string;
    notes?: string;
    order?: number;
    requiredAuthenticationMethods?: Array<RequiredMethodsParams>;
    userId: string;
  }; result: { mfaPolicyId: string } };
  update_oauth2_credential: { parameters: {
    clientId: string;
    encryptedClientSecret: string;
    oauth2CredentialId: string;
    provider: 'OAUTH2_PROVIDER_X' | 'OAUTH2_PROVIDER_DISCORD';
  }; result: { oauth2CredentialId: string } };
  update_organization_name: { parameters: { organizationName: string }; result: { organizationId: string; organizationName: string } };
  update_policy: { parameters: {
    policyCondition?: string;
    policyConsensus?: string;
    policyEffect?: 'EFFECT_ALLOW' | 'EFFECT_DENY';
    policyId: string;
    policyName?: string;
    policyNotes?: string;
    time?: string;
  }; result: { findings?: Array<Finding>; policyId: string } };
  update_private_key_tag: { parameters: {
    addPrivateKeyIds: Array<string>;
    newPrivateKeyTagName?: string;
    privateKeyTagId: string;
    removePrivateKeyIds: Array<string>;
  }; result: { privateKeyTagId: string } };
  update_root_quorum: { parameters: { threshold: number; userIds: Array<string> }; result: Record<string, unknown> };
  update_user: { parameters: {
    userEmail?: unknown | unknown;
    userId: string;
    userName?: string;
    userPhoneNumber?: unknown | unknown;
    userTagIds?: Array<string>;
  }; result: { userId: string } };
  update_user_email: { parameters: { userEmail: unknown | unknown; userId: string; verificationToken?: string }; result: { userId: string } };
  update_user_name: { parameters: { userId: string; userName: string }; result: { userId: string } };
  update_user_phone_number: { parameters: { userId: string; userPhoneNumber: unknown | unknown; verificationToken?: string }; result: { userId: string } };
  update_user_tag: { parameters: {
    addUserIds: Array<string>;
    newUserTagName?: string;
    removeUserIds: Array<string>;
    userTagId: string;
  }; result: { userTagId: string } };
  update_wallet: { parameters: { walletId: string; walletName?: string }; result: { walletId: string } };
  update_webhook_endpoint: { parameters: { endpointId: string; isActive?: boolean; name?: string; url?: string }; result: { endpointId: string; webhookEndpoint: WebhookEndpoint } };
  verify_otp: { parameters: { encryptedOtpBundle: string; expirationSeconds?: string; otpId: string }; result: { verificationToken: string } };
}

// Of each activity, the type of its newest version and the member of its result.
export const activityTypes: Record<keyof Activities, [type: string, resultKey: string]> = {
  approve_activity: ['ACTIVITY_TYPE_APPROVE_ACTIVITY', 'approveActivityResult'],
  create_api_keys: ['ACTIVITY_TYPE_CREATE_API_KEYS_V2', 'createApiKeysResult'],
  create_api_only_users: ['ACTIVITY_TYPE_CREATE_API_ONLY_USERS', 'createApiOnlyUsersResult'],
  create_authenticators: ['ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2', 'createAuthenticatorsResult'],
  create_invitations: ['ACTIVITY_TYPE_CREATE_INVITATIONS', 'createInvitationsResult'],
  create_mfa_policy: ['ACTIVITY_TYPE_CREATE_MFA_POLICY', 'createMfaPolicyResult'],
  create_oauth2_credential: ['ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', 'createOauth2CredentialResult'],
  create_oauth_providers: ['ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2', 'createOauthProvidersResultV2'],
  create_policies: ['ACTIVITY_TYPE_CREATE_POLICIES', 'createPoliciesResult'],
  create_policy: ['ACTIVITY_TYPE_CREATE_POLICY_V3', 'createPolicyResult'],
  create_private_key_tag: ['ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG', 'createPrivateKeyTagResult'],
  create_private_keys: ['ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2', 'createPrivateKeysResultV2'],
  create_read_only_session: ['ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION', 'createReadOnlySessionResult'],
  create_read_write_session: ['ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2', 'createReadWriteSessionResultV2'],
  create_session_profile: ['ACTIVITY_TYPE_CREATE_SESSION_PROFILE', 'createSessionProfileResult'],
  create_smart_contract_interface: ['ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE', 'createSmartContractInterfaceResult'],
  create_sub_organization: ['ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8', 'createSubOrganizationResultV8'],
  create_user_tag: ['ACTIVITY_TYPE_CREATE_USER_TAG', 'createUserTagResult'],
  create_users: ['ACTIVITY_TYPE_CREATE_USERS_V4', 'createUsersResult'],
  create_velocity_control: ['ACTIVITY_TYPE_CREATE_VELOCITY_CONTROL', 'createVelocityControlResult'],
  create_wallet: ['ACTIVITY_TYPE_CREATE_WALLET', 'createWalletResult'],
  create_wallet_accounts: ['ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS', 'createWalletAccountsResult'],
  create_webhook_endpoint: ['ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', 'createWebhookEndpointResult'],
  delete_api_keys: ['ACTIVITY_TYPE_DELETE_API_KEYS', 'deleteApiKeysResult'],
  delete_authenticators: ['ACTIVITY_TYPE_DELETE_AUTHENTICATORS', 'deleteAuthenticatorsResult'],
  delete_invitation: ['ACTIVITY_TYPE_DELETE_INVITATION', 'deleteInvitationResult'],
  delete_mfa_policy: ['ACTIVITY_TYPE_DELETE_MFA_POLICY', 'deleteMfaPolicyResult'],
  delete_oauth2_credential: ['ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL', 'deleteOauth2CredentialResult'],
  delete_oauth_providers: ['ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS', 'deleteOauthProvidersResult'],
  delete_policies: ['ACTIVITY_TYPE_DELETE_POLICIES', 'deletePoliciesResult'],
  delete_policy: ['ACTIVITY_TYPE_DELETE_POLICY', 'deletePolicyResult'],
  delete_private_key_tags: ['ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS', 'deletePrivateKeyTagsResult'],
  delete_private_keys: ['ACTIVITY_TYPE_DELETE_PRIVATE_KEYS', 'deletePrivateKeysResult'],
  delete_secrets: ['ACTIVITY_TYPE_DELETE_SECRETS', 'deleteSecretsResult'],
  delete_smart_contract_interface: ['ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE', 'deleteSmartContractInterfaceResult'],
  delete_sub_organization: ['ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION', 'deleteSubOrganizationResult'],
  delete_user_tags: ['ACTIVITY_TYPE_DELETE_USER_TAGS', 'deleteUserTagsResult'],
  delete_users: ['ACTIVITY_TYPE_DELETE_USERS', 'deleteUsersResult'],
  delete_velocity_control: ['ACTIVITY_TYPE_DELETE_VELOCITY_CONTROL', 'deleteVelocityControlResult'],
  delete_wallet_accounts: ['ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS', 'deleteWalletAccountsResult'],
  delete_wallets: ['ACTIVITY_TYPE_DELETE_WALLETS', 'deleteWalletsResult'],
  delete_webhook_endpoint: ['ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT', 'deleteWebhookEndpointResult'],
  disable_auth_proxy: ['ACTIVITY_TYPE_DISABLE_AUTH_PROXY', 'disableAuthProxyResult'],
  email_auth: ['ACTIVITY_TYPE_EMAIL_AUTH_V3', 'emailAuthResult'],
  enable_auth_proxy: ['ACTIVITY_TYPE_ENABLE_AUTH_PROXY', 'enableAuthProxyResult'],
  export_private_key: ['ACTIVITY_TYPE_EXPORT_PRIVATE_KEY', 'exportPrivateKeyResult'],
  export_secrets: ['ACTIVITY_TYPE_EXPORT_SECRETS', 'exportSecretsResult'],
  export_wallet: ['ACTIVITY_TYPE_EXPORT_WALLET', 'exportWalletResult'],
  export_wallet_account: ['ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT', 'exportWalletAccountResult'],
  import_private_key: ['ACTIVITY_TYPE_IMPORT_PRIVATE_KEY', 'importPrivateKeyResult'],
  import_secrets: ['ACTIVITY_TYPE_IMPORT_SECRETS', 'importSecretsResult'],
  import_wallet: ['ACTIVITY_TYPE_IMPORT_WALLET', 'importWalletResult'],
  init_import_private_key: ['ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY', 'initImportPrivateKeyResult'],
  init_import_secrets: ['ACTIVITY_TYPE_INIT_IMPORT_SECRETS', 'initImportSecretsResult'],
  init_import_wallet: ['ACTIVITY_TYPE_INIT_IMPORT_WALLET', 'initImportWalletResult'],
  init_otp: ['ACTIVITY_TYPE_INIT_OTP_V3', 'initOtpResultV2'],
  init_otp_auth: ['ACTIVITY_TYPE_INIT_OTP_AUTH_V3', 'initOtpAuthResultV2'],
  init_user_email_recovery: ['ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2', 'initUserEmailRecoveryResult'],
  oauth: ['ACTIVITY_TYPE_OAUTH', 'oauthResult'],
  oauth2_authenticate: ['ACTIVITY_TYPE_OAUTH2_AUTHENTICATE', 'oauth2AuthenticateResult'],
  oauth_login: ['ACTIVITY_TYPE_OAUTH_LOGIN', 'oauthLoginResult'],
  otp_auth: ['ACTIVITY_TYPE_OTP_AUTH', 'otpAuthResult'],
  otp_login: ['ACTIVITY_TYPE_OTP_LOGIN_V2', 'otpLoginResult'],
  recover_user: ['ACTIVITY_TYPE_RECOVER_USER', 'recoverUserResult'],
  reject_activity: ['ACTIVITY_TYPE_REJECT_ACTIVITY', 'rejectActivityResult'],
  remove_ip_allowlist: ['ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST', 'removeIpAllowlistResult'],
  remove_organization_feature: ['ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE', 'removeOrganizationFeatureResult'],
  replay_webhook_endpoint: ['ACTIVITY_TYPE_REPLAY_WEBHOOK_ENDPOINT', 'replayWebhookEndpointResult'],
  set_ip_allowlist: ['ACTIVITY_TYPE_SET_IP_ALLOWLIST', 'setIpAllowlistResult'],
  set_organization_feature: ['ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', 'setOrganizationFeatureResult'],
  sign_raw_payload: ['ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', 'signRawPayloadResult'],
  sign_raw_payloads: ['ACTIVITY_TYPE_SIGN_RAW_PAYLOADS', 'signRawPayloadsResult'],
  sign_transaction: ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2', 'signTransactionResult'],
  stamp_login: ['ACTIVITY_TYPE_STAMP_LOGIN', 'stampLoginResult'],
  update_auth_proxy_config: ['ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG', 'updateAuthProxyConfigResult'],
  update_mfa_policy: ['ACTIVITY_TYPE_UPDATE_MFA_POLICY', 'updateMfaPolicyResult'],
  update_oauth2_credential: ['ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL', 'updateOauth2CredentialResult'],
  update_organization_name: ['ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME', 'updateOrganizationNameResult'],
  update_policy: ['ACTIVITY_TYPE_UPDATE_POLICY_V2', 'updatePolicyResultV2'],
  update_private_key_tag: ['ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG', 'updatePrivateKeyTagResult'],
  update_root_quorum: ['ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', 'updateRootQuorumResult'],
  update_user: ['ACTIVITY_TYPE_UPDATE_USER', 'updateUserResult'],
  update_user_email: ['ACTIVITY_TYPE_UPDATE_USER_EMAIL', 'updateUserEmailResult'],
  update_user_name: ['ACTIVITY_TYPE_UPDATE_USER_NAME', 'updateUserNameResult'],
  update_user_phone_number: ['ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER', 'updateUserPhoneNumberResult'],
  update_user_tag: ['ACTIVITY_TYPE_UPDATE_USER_TAG', 'updateUserTagResult'],
  update_wallet: ['ACTIVITY_TYPE_UPDATE_WALLET', 'updateWalletResult'],
  update_webhook_endpoint: ['ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT', 'updateWebhookEndpointResult'],
  verify_otp: ['ACTIVITY_TYPE_VERIFY_OTP_V2', 'verifyOtpResult'],
};
