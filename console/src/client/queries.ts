// Written by make console from the OpenAPI document; do not edit.

import type {
  APIKey,
  Authenticator,
  BacktestPosition,
  Configs,
  ContractInterface,
  ControlEvaluation,
  CountedControl,
  Difference,
  EmailEvent,
  EventView,
  ExplainedPolicy,
  ExplainedQuorum,
  ExplainedVoter,
  IPAllowlist,
  ListedWebhookEndpoint,
  MfaPolicy,
  MfaStatus,
  OAuth2Credential,
  OauthProvider,
  OrganizationData,
  PageInfo,
  Pagination,
  Policy,
  PolicyStatus,
  PrivateKey,
  ReceiptView,
  Secret,
  SessionProfileRecord,
  SupposedControl,
  SupposedPolicy,
  Tag,
  User,
  VelocityControl,
  View,
  VoteEvaluation,
  Wallet,
  WalletAccount,
} from './models';

export interface Queries {
  backtest: { request: {
    organizationId: string;
    paginationOptions?: BacktestPosition;
    policies: Array<SupposedPolicy>;
    sinceMs?: string;
    velocityControls?: Array<SupposedControl>;
  }; reply: { different: Array<Difference>; examined: number; pageInfo: PageInfo; skipped: number } };
  controls: { request: {
    after?: string;
    groupId?: string;
    identifier?: string;
    limit?: string;
    organizationId: string;
    points?: string;
    sinceMs?: string;
  }; reply: { controls: Array<CountedControl>; pageInfo: PageInfo } };
  events: { request: {
    after?: string;
    includeSubOrganizations?: boolean;
    limit?: number;
    organizationId: string;
    statuses?: Array<'ACTIVITY_STATUS_CREATED' | 'ACTIVITY_STATUS_PENDING' | 'ACTIVITY_STATUS_COMPLETED' | 'ACTIVITY_STATUS_FAILED' | 'ACTIVITY_STATUS_CONSENSUS_NEEDED' | 'ACTIVITY_STATUS_REJECTED' | 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED'>;
    types?: Array<string>;
  }; reply: { cursor: string; events: Array<EventView> } };
  events_stream: { request: {
    after?: string;
    includeSubOrganizations?: boolean;
    limit?: number;
    organizationId: string;
    statuses?: Array<'ACTIVITY_STATUS_CREATED' | 'ACTIVITY_STATUS_PENDING' | 'ACTIVITY_STATUS_COMPLETED' | 'ACTIVITY_STATUS_FAILED' | 'ACTIVITY_STATUS_CONSENSUS_NEEDED' | 'ACTIVITY_STATUS_REJECTED' | 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED'>;
    types?: Array<string>;
  }; reply: unknown };
  explain: { request: {
    activityId?: string;
    approvers?: Array<string>;
    organizationId: string;
    parameters?: Record<string, unknown>;
    policies?: Array<SupposedPolicy>;
    time?: string;
    timestampMs?: string;
    type?: string;
  }; reply: {
    canApprove: Array<ExplainedVoter>;
    controls?: Array<ControlEvaluation>;
    outcome: 'ALLOW' | 'DENY' | 'PENDING';
    policies: Array<ExplainedPolicy>;
    reason: string;
    rootQuorum: ExplainedQuorum;
  } };
  receipt: { request: {
    activityId: string;
    organizationId: string;
    status?: 'ACTIVITY_STATUS_CREATED' | 'ACTIVITY_STATUS_PENDING' | 'ACTIVITY_STATUS_COMPLETED' | 'ACTIVITY_STATUS_FAILED' | 'ACTIVITY_STATUS_CONSENSUS_NEEDED' | 'ACTIVITY_STATUS_REJECTED' | 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';
  }; reply: { receipt: ReceiptView } };
  webhooks_test: { request: { endpointId: string; organizationId: string }; reply: { delivered: boolean; durationMs: number; error?: string; eventId: string } };
  get_active_policies: { request: { organizationId: string }; reply: { evaluatedAtMs: string; statuses: Array<PolicyStatus> } };
  get_activity: { request: { activityId: string; organizationId: string }; reply: { activity: View } };
  get_api_key: { request: { apiKeyId: string; organizationId: string }; reply: { apiKey: APIKey } };
  get_api_keys: { request: { organizationId: string; userId?: string }; reply: { apiKeys: Array<APIKey> } };
  get_authenticator: { request: { authenticatorId: string; organizationId: string }; reply: { authenticator: Authenticator } };
  get_authenticators: { request: { organizationId: string; userId: string }; reply: { authenticators: Array<Authenticator> } };
  get_ip_allowlist: { request: { organizationId: string; publicKey?: string }; reply: { allowlist: IPAllowlist } };
  get_mfa_policies: { request: { organizationId: string; userId: string }; reply: { mfaPolicies: Array<MfaPolicy> } };
  get_mfa_policy: { request: { mfaPolicyId: string; organizationId: string; userId: string }; reply: { mfaPolicy: MfaPolicy } };
  get_mfa_status: { request: { activityId: string; organizationId: string; userId?: string }; reply: { mfaStatuses: Array<MfaStatus> } };
  get_oauth2_credential: { request: { oauth2CredentialId: string; organizationId: string }; reply: { oauth2Credential: OAuth2Credential } };
  get_oauth_providers: { request: { organizationId: string; userId?: string }; reply: { oauthProviders: Array<OauthProvider> } };
  get_organization: { request: { organizationId: string }; reply: { organizationData: OrganizationData } };
  get_organization_configs: { request: { organizationId: string }; reply: { configs: Configs } };
  get_policy: { request: { organizationId: string; policyId: string }; reply: { policy: Policy } };
  get_policy_evaluations: { request: { activityId: string; organizationId: string }; reply: { policyEvaluations: Array<VoteEvaluation> } };
  get_private_key: { request: { organizationId: string; privateKeyId: string }; reply: { privateKey: PrivateKey } };
  get_session_profile: { request: { organizationId: string; sessionProfileId: string }; reply: { sessionProfile: SessionProfileRecord } };
  get_session_profiles: { request: { organizationId: string }; reply: { sessionProfiles: Array<SessionProfileRecord> } };
  get_smart_contract_interface: { request: { organizationId: string; smartContractInterfaceId: string }; reply: { smartContractInterface: ContractInterface } };
  get_user: { request: { organizationId: string; userId: string }; reply: { user: User } };
  get_velocity_control: { request: { organizationId: string; velocityControlId: string }; reply: { velocityControl: VelocityControl } };
  get_wallet: { request: { organizationId: string; walletId: string }; reply: { wallet: Wallet } };
  get_wallet_account: { request: { address?: string; organizationId: string; path?: string; walletId: string }; reply: { account: WalletAccount } };
  list_activities: { request: {
    filterByStatus?: Array<'ACTIVITY_STATUS_CREATED' | 'ACTIVITY_STATUS_PENDING' | 'ACTIVITY_STATUS_COMPLETED' | 'ACTIVITY_STATUS_FAILED' | 'ACTIVITY_STATUS_CONSENSUS_NEEDED' | 'ACTIVITY_STATUS_REJECTED' | 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED'>;
    filterByType?: Array<string>;
    organizationId: string;
    paginationOptions?: Pagination;
  }; reply: { activities: Array<View> } };
  list_email_events: { request: {
    email: string;
    eventType?: 'Send' | 'Delivery' | 'DeliveryDelay' | 'Bounce';
    organizationId: string;
    paginationOptions?: Pagination;
  }; reply: { emailEvents: Array<EmailEvent> } };
  list_oauth2_credentials: { request: { organizationId: string }; reply: { oauth2Credentials: Array<OAuth2Credential> } };
  list_policies: { request: { organizationId: string }; reply: { policies: Array<Policy> } };
  list_private_key_tags: { request: { organizationId: string }; reply: { privateKeyTags: Array<Tag> } };
  list_private_keys: { request: { organizationId: string }; reply: { privateKeys: Array<PrivateKey> } };
  list_secrets: { request: { organizationId: string; paginationOptions?: Pagination }; reply: { secrets: Array<Secret> } };
  list_smart_contract_interfaces: { request: { organizationId: string }; reply: { smartContractInterfaces: Array<ContractInterface> } };
  list_suborgs: { request: {
    filterType?: 'NAME' | 'USERNAME' | 'EMAIL' | 'PHONE_NUMBER' | 'CREDENTIAL_ID' | 'PUBLIC_KEY' | 'OIDC_TOKEN' | 'OIDC_CLAIMS' | 'WALLET_ACCOUNT_ADDRESS';
    filterValue?: string;
    organizationId: string;
    paginationOptions?: Pagination;
  }; reply: { organizationIds: Array<string> } };
  list_user_tags: { request: { organizationId: string }; reply: { userTags: Array<Tag> } };
  list_users: { request: { organizationId: string }; reply: { users: Array<User> } };
  list_velocity_controls: { request: { organizationId: string; paginationOptions?: Pagination }; reply: { pageInfo: PageInfo; velocityControls: Array<VelocityControl> } };
  list_verified_suborgs: { request: {
    filterType?: 'NAME' | 'USERNAME' | 'EMAIL' | 'PHONE_NUMBER' | 'CREDENTIAL_ID' | 'PUBLIC_KEY' | 'OIDC_TOKEN' | 'OIDC_CLAIMS' | 'WALLET_ACCOUNT_ADDRESS';
    filterValue?: string;
    organizationId: string;
    paginationOptions?: Pagination;
  }; reply: { organizationIds: Array<string> } };
  list_wallet_accounts: { request: {
    includeWalletDetails?: boolean;
    organizationId: string;
    paginationOptions?: Pagination;
    walletId?: string;
  }; reply: { accounts: Array<WalletAccount> } };
  list_wallets: { request: { organizationId: string }; reply: { wallets: Array<Wallet> } };
  list_webhook_endpoints: { request: { organizationId: string }; reply: { webhookEndpoints: Array<ListedWebhookEndpoint> } };
  whoami: { request: { organizationId: string }; reply: { organizationId: string; organizationName: string; userId: string; username: string } };
}

// Of each query that is not where the others are, its path.
export const ownPaths: Partial<Record<keyof Queries, string>> = {
  backtest: '/latchkey/v1/backtest',
  controls: '/latchkey/v1/controls',
  events: '/latchkey/v1/events',
  events_stream: '/latchkey/v1/events/stream',
  explain: '/latchkey/v1/explain',
  receipt: '/latchkey/v1/receipt',
  webhooks_test: '/latchkey/v1/webhooks/test',
};
