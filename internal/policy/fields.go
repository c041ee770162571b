package policy

import "latchkey/internal/policy/fact"

// This file is the vocabulary: every root and every field that an expression
// may read, once.

// root is where reading begins.
type root struct {
	name string // eth.tx is one root in the namespace eth
	typ  *typ
	op   op                      // of consensus and time; opRoot: read by get
	get  func(*fact.Request) any // a pointer, or nil
}

func from[E any](name string, t *typ, get func(*fact.Request) *E) root {
	return root{name: name, typ: t, op: opRoot, get: func(r *fact.Request) any {
		if p := get(r); p != nil {
			return p
		}
		return nil
	}}
}

// rootsOf lists the roots of a place.
func rootsOf(p Place) []root {
	switch p {
	case Consensus:
		return consensusRoots
	case Time:
		return timeRoots
	default:
		return conditionRoots
	}
}

var timeRoots = []root{{name: "time.now", typ: timeType, op: opNow}}

var consensusRoots = []root{
	{name: "approvers", typ: listOf(userType), op: opApprovers},
	{name: "credentials", typ: listOf(credentialType), op: opCredentials},
}

var conditionRoots = []root{
	from("activity", activityType, func(r *fact.Request) *fact.Activity { return &r.Activity }),
	from("wallet", walletType, func(r *fact.Request) *fact.Wallet { return r.Wallet }),
	from("wallets", listOf(walletType), func(r *fact.Request) *[]fact.Wallet { return exposed(&r.Wallets) }),
	from("private_key", privateKeyType, func(r *fact.Request) *fact.PrivateKey { return r.PrivateKey }),
	from("wallet_account", walletAccountType, func(r *fact.Request) *fact.WalletAccount { return r.WalletAccount }),
	from("secret", secretType, func(r *fact.Request) *fact.Secret { return r.Secret }),
	from("eth.tx", ethereumType, func(r *fact.Request) *fact.EthereumTx { return r.Ethereum }),
	from("eth.eip_712", typedDataType, func(r *fact.Request) *fact.EIP712 { return r.EIP712 }),
	from("eth.eip_7702_authorization", authorizationType, func(r *fact.Request) *fact.EIP7702 { return r.EIP7702 }),
	from("solana.tx", solanaType, func(r *fact.Request) *fact.SolanaTx { return r.Solana }),
	from("tron.tx", tronType, func(r *fact.Request) *fact.TronTx { return r.Tron }),
	from("bitcoin.tx", bitcoinType, func(r *fact.Request) *fact.BitcoinTx { return r.Bitcoin }),
	from("tempo.tx", tempoType, func(r *fact.Request) *fact.TempoTx { return r.Tempo }),
	{name: "controls", typ: controlsType, op: opControls},
}

var userType = structOf[fact.User]("User",
	text("id", func(u *fact.User) *string { return &u.ID }),
	text("email", func(u *fact.User) *string { return &u.Email }),
	text("alias", func(u *fact.User) *string { return &u.Alias }),
	nested("tags", listOf(textType), func(u *fact.User) *[]string { return &u.Tags }),
)

var credentialType = structOf[fact.Credential]("Credential",
	text("id", func(c *fact.Credential) *string { return &c.ID }),
	text("user_id", func(c *fact.Credential) *string { return &c.UserID }),
	text("type", func(c *fact.Credential) *string { return &c.Type }),
	text("credential_id", func(c *fact.Credential) *string { return &c.CredentialID }),
	text("public_key", func(c *fact.Credential) *string { return &c.PublicKey }),
)

var activityType = structOf[fact.Activity]("Activity",
	text("type", func(a *fact.Activity) *string { return &a.Type }),
	text("kind", func(a *fact.Activity) *string { return &a.Kind }),
	text("resource", func(a *fact.Activity) *string { return &a.Resource }).oneOf(
		"AUTH", "AUTH_PROXY", "CONFIG", "CREDENTIAL", "FIAT_TRANSACTION", "INVITATION", "MFA_POLICY",
		"ON_RAMP_CREDENTIALS", "ORGANIZATION", "OTP", "PAYMENT_METHOD", "POLICY", "PRIVATE_KEY", "RECOVERY",
		"SECRET", "SESSION_PROFILE", "SMART_CONTRACT_INTERFACE", "SPONSORSHIP", "SUBSCRIPTION", "TVC_APP",
		"TVC_DEPLOYMENT", "TVC_OPERATOR", "TVC_QUORUM_KEY", "USER", "VELOCITY_CONTROL", "WALLET", "WEBHOOK_ENDPOINT"),
	text("action", func(a *fact.Activity) *string { return &a.Action }).oneOf(
		"CREATE", "UPDATE", "DELETE", "SIGN", "EXPORT", "IMPORT", "VERIFY", "ENCRYPT"),
	nested("params", paramsType, func(a *fact.Activity) *fact.Params { return &a.Params }),
)

// paramsType is the union over all activities; each exposes a few.
var paramsType = structOf[fact.Params]("Params",
	text("hash_function", func(p *fact.Params) *string { return p.HashFunction }),
	text("encoding", func(p *fact.Params) *string { return p.Encoding }),
	text("type", func(p *fact.Params) *string { return p.Type }),
	nested("user_ids", listOf(textType), func(p *fact.Params) *[]string { return exposed(&p.UserIDs) }),
	text("user_id", func(p *fact.Params) *string { return p.UserID }),
	nested("api_key_ids", listOf(textType), func(p *fact.Params) *[]string { return exposed(&p.APIKeyIDs) }),
	text("target_public_key", func(p *fact.Params) *string { return p.TargetPublicKey }),
	text("wallet_id", func(p *fact.Params) *string { return p.WalletID }),
	amount("otp_length", func(p *fact.Params) *fact.Number { return p.OTPLength }),
	text("session_profile_id", func(p *fact.Params) *string { return p.SessionProfileID }),
	text("endpoint_id", func(p *fact.Params) *string { return p.EndpointID }),
	nested("tags_given", listOf(textType), func(p *fact.Params) *[]string { return exposed(&p.TagsGiven) }),
	nested("tags_taken", listOf(textType), func(p *fact.Params) *[]string { return exposed(&p.TagsTaken) }),
	text("sign_with", func(p *fact.Params) *string { return p.Spark.SignWith }),
	nested("signatures", listOf(sparkSignatureType), func(p *fact.Params) *[]fact.SparkSignature { return exposed(&p.Spark.Signatures) }),
	nested("transfer", sparkTransferType, func(p *fact.Params) *fact.SparkTransfer { return p.Spark.Transfer }),
	nested("claim", sparkClaimType, func(p *fact.Params) *fact.SparkClaim { return p.Spark.Claim }),
	nested("lightning_receive", sparkLightningType, func(p *fact.Params) *fact.SparkLightningReceive { return p.Spark.LightningReceive }),
)

var walletType = structOf[fact.Wallet]("Wallet",
	text("id", func(w *fact.Wallet) *string { return &w.ID }),
	text("label", func(w *fact.Wallet) *string { return &w.Label }),
	flag("imported", func(w *fact.Wallet) *bool { return &w.Imported }),
	flag("exported", func(w *fact.Wallet) *bool { return &w.Exported }),
)

var privateKeyType = structOf[fact.PrivateKey]("PrivateKey",
	text("id", func(k *fact.PrivateKey) *string { return &k.ID }),
	text("label", func(k *fact.PrivateKey) *string { return &k.Label }),
	nested("tags", listOf(textType), func(k *fact.PrivateKey) *[]string { return &k.Tags }),
	flag("imported", func(k *fact.PrivateKey) *bool { return &k.Imported }),
	flag("exported", func(k *fact.PrivateKey) *bool { return &k.Exported }),
)

// exporting is p if the account is exported, else nil: the details of an
// account are there only then.
func exporting[E any](a *fact.WalletAccount, p *E) *E {
	if a.Exporting {
		return p
	}
	return nil
}

func addressesOf(a *fact.WalletAccount) *[]string {
	all := []string{a.Address}
	if a.Addresses != nil {
		all = a.Addresses()
	}
	return &all
}

var walletAccountType = structOf[fact.WalletAccount]("WalletAccount",
	aliased(text("address", func(a *fact.WalletAccount) *string { return &a.Address }).written(anyAddressType), func(a *fact.WalletAccount) func() []string { return a.Addresses }),
	nested("addresses", listOf(anyAddressType), addressesOf),
	nested("path_indexes", listOf(intType), func(a *fact.WalletAccount) *[]fact.Number { return exporting(a, &a.PathIndexes) }),
	nested("path_hardened", listOf(boolType), func(a *fact.WalletAccount) *[]bool { return exporting(a, &a.PathHardened) }),
	text("wallet_id", func(a *fact.WalletAccount) *string { return exporting(a, &a.WalletID) }),
	text("curve", func(a *fact.WalletAccount) *string { return exporting(a, &a.Curve) }),
	text("address_format", func(a *fact.WalletAccount) *string { return exporting(a, &a.AddressFormat) }),
)

var secretType = structOf[fact.Secret]("Secret",
	nested("static_properties", texts, func(s *fact.Secret) *fact.Map { return &s.StaticProperties }),
)

var ethereumType = structOf[fact.EthereumTx]("EthereumTransaction",
	caseInsensitive("from", func(t *fact.EthereumTx) *string { return &t.From }).written(ethereumAddressType),
	caseInsensitive("to", func(t *fact.EthereumTx) *string { return &t.To }).written(ethereumAddressType),
	text("data", func(t *fact.EthereumTx) *string { return &t.Data }),
	text("type", func(t *fact.EthereumTx) *string { return &t.Type }).oneOf("LEGACY", "TYPE_1", "TYPE_2", "TYPE_3", "TYPE_4"),
	text("function_name", func(t *fact.EthereumTx) *string { return &t.FunctionName }),
	text("function_signature", func(t *fact.EthereumTx) *string { return &t.FunctionSignature }),
	amount("value", func(t *fact.EthereumTx) *fact.Number { return &t.Value }),
	amount("gas", func(t *fact.EthereumTx) *fact.Number { return &t.Gas }),
	amount("gas_price", func(t *fact.EthereumTx) *fact.Number { return &t.GasPrice }),
	amount("chain_id", func(t *fact.EthereumTx) *fact.Number { return &t.ChainID }),
	amount("nonce", func(t *fact.EthereumTx) *fact.Number { return &t.Nonce }),
	amount("max_fee_per_gas", func(t *fact.EthereumTx) *fact.Number { return &t.MaxFeePerGas }),
	amount("max_priority_fee_per_gas", func(t *fact.EthereumTx) *fact.Number { return &t.MaxPriorityFeePerGas }),
	amount("max_fee_per_blob_gas", func(t *fact.EthereumTx) *fact.Number { return &t.MaxFeePerBlobGas }),
	nested("contract_call_args", arguments, func(t *fact.EthereumTx) *fact.Map { return t.ContractCallArgs }).unlessIn("a call that no stored interface describes"),
)

var typedDataType = structOf[fact.EIP712]("EIP712",
	text("primary_type", func(e *fact.EIP712) *string { return &e.PrimaryType }),
	nested("domain", structOf[fact.EIP712Domain]("EIP712Domain",
		text("name", func(d *fact.EIP712Domain) *string { return &d.Name }),
		text("version", func(d *fact.EIP712Domain) *string { return &d.Version }),
		unsigned("chain_id", func(d *fact.EIP712Domain) *fact.Number { return &d.ChainID }),
		caseInsensitive("verifying_contract", func(d *fact.EIP712Domain) *string { return &d.VerifyingContract }).written(ethereumAddressType),
	), func(e *fact.EIP712) *fact.EIP712Domain { return &e.Domain }),
	nested("message", arguments, func(e *fact.EIP712) *fact.Map { return &e.Message }),
)

var authorizationType = structOf[fact.EIP7702]("EIP7702Authorization",
	caseInsensitive("address", func(a *fact.EIP7702) *string { return &a.Address }).written(ethereumAddressType),
	amount("chain_id", func(a *fact.EIP7702) *fact.Number { return &a.ChainID }),
	amount("nonce", func(a *fact.EIP7702) *fact.Number { return &a.Nonce }),
)
