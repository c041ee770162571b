package policy

import (
	"cmp"

	"latchkey/internal/policy/fact"
)

// The vocabulary, continued: the chains other than Ethereum, and Spark.

var solanaType = structOf[fact.SolanaTx]("SolanaTransaction",
	nested("account_keys", listOf(solanaAddressType), func(t *fact.SolanaTx) *[]string { return &t.AccountKeys }),
	nested("static_account_keys", listOf(solanaAddressType), func(t *fact.SolanaTx) *[]string { return &t.AccountKeys }),
	nested("program_keys", listOf(solanaAddressType), func(t *fact.SolanaTx) *[]string { return &t.ProgramKeys }),
	nested("top_level_program_keys", listOf(solanaAddressType), func(t *fact.SolanaTx) *[]string { return &t.ProgramKeys }),
	nested("instructions", listOf(instructionType), func(t *fact.SolanaTx) *[]fact.SolanaInstruction { return &t.Instructions }),
	nested("top_level_instructions", listOf(instructionType), func(t *fact.SolanaTx) *[]fact.SolanaInstruction { return &t.Instructions }),
	told(nested("transfers", listOf(structOf[fact.SolanaTransfer]("Transfer",
		text("from", func(t *fact.SolanaTransfer) *string { return &t.From }).written(solanaAddressType),
		text("to", func(t *fact.SolanaTransfer) *string { return &t.To }).written(solanaAddressType),
		told(amount("amount", func(t *fact.SolanaTransfer) *fact.Number { return t.Amount }), func(t *fact.SolanaTransfer) string { return howMuch(t.Amount) }),
	)), func(t *fact.SolanaTx) *[]fact.SolanaTransfer { return &t.Transfers }), func(t *fact.SolanaTx) string { return t.SystemUntold }),
	told(nested("spl_transfers", listOf(structOf[fact.SPLTransfer]("SPLTransfer",
		text("from", func(t *fact.SPLTransfer) *string { return &t.From }).written(solanaAddressType),
		text("to", func(t *fact.SPLTransfer) *string { return &t.To }).written(solanaAddressType),
		text("owner", func(t *fact.SPLTransfer) *string { return &t.Owner }).written(solanaAddressType),
		text("token_mint", func(t *fact.SPLTransfer) *string { return &t.TokenMint }).written(solanaAddressType),
		told(amount("amount", func(t *fact.SPLTransfer) *fact.Number { return t.Amount }), func(t *fact.SPLTransfer) string { return howMuch(t.Amount) }),
		nested("signers", listOf(solanaAddressType), func(t *fact.SPLTransfer) *[]string { return &t.Signers }),
	)), func(t *fact.SolanaTx) *[]fact.SPLTransfer { return &t.SPLTransfers }), func(t *fact.SolanaTx) string { return t.TokensUntold }),
	told(nested("effects", listOf(structOf[fact.SolanaEffect]("Effect",
		text("program", func(e *fact.SolanaEffect) *string { return &e.Program }).written(solanaAddressType),
		text("kind", func(e *fact.SolanaEffect) *string { return &e.Kind }).oneOf(fact.SolanaEffectKinds()...),
		text("account", func(e *fact.SolanaEffect) *string { return &e.Account }).written(solanaAddressType),
		text("authority", func(e *fact.SolanaEffect) *string { return &e.Authority }).written(solanaAddressType),
		told(amount("amount", func(e *fact.SolanaEffect) *fact.Number { return e.Amount }), func(e *fact.SolanaEffect) string { return howMuch(e.Amount) }),
	)), func(t *fact.SolanaTx) *[]fact.SolanaEffect { return &t.Effects }), func(t *fact.SolanaTx) string { return cmp.Or(t.SystemUntold, t.TokensUntold) }),
	text("recent_blockhash", func(t *fact.SolanaTx) *string { return &t.RecentBlockhash }),
	nested("address_table_lookups", listOf(structOf[fact.AddressTableLookup]("AddressTableLookup",
		text("address_table_key", func(l *fact.AddressTableLookup) *string { return &l.TableKey }).written(solanaAddressType),
		nested("writable_indexes", listOf(intType), func(l *fact.AddressTableLookup) *[]fact.Number { return &l.WritableIndexes }),
		nested("readonly_indexes", listOf(intType), func(l *fact.AddressTableLookup) *[]fact.Number { return &l.ReadonlyIndexes }),
	)), func(t *fact.SolanaTx) *[]fact.AddressTableLookup { return &t.AddressTableLookups }),
	nested("address_table_lookup_references", listOf(referenceType), func(t *fact.SolanaTx) *[]fact.AddressTableReference { return &t.AddressTableLookupReferences }),
)

// howMuch is why an amount is not told.
func howMuch(n *fact.Number) string {
	if n == nil {
		return "the transaction does not say how much"
	}
	return ""
}

var instructionType = structOf[fact.SolanaInstruction]("Instruction",
	text("program_key", func(i *fact.SolanaInstruction) *string { return &i.ProgramKey }).written(solanaAddressType),
	text("instruction_data_hex", func(i *fact.SolanaInstruction) *string { return &i.DataHex }),
	nested("accounts", listOf(structOf[fact.SolanaAccount]("Account",
		text("account_key", func(a *fact.SolanaAccount) *string { return &a.Key }).written(solanaAddressType),
		flag("signer", func(a *fact.SolanaAccount) *bool { return &a.Signer }),
		flag("writable", func(a *fact.SolanaAccount) *bool { return &a.Writable }),
	)), func(i *fact.SolanaInstruction) *[]fact.SolanaAccount { return &i.Accounts }),
	nested("address_table_lookups", listOf(referenceType), func(i *fact.SolanaInstruction) *[]fact.AddressTableReference { return &i.AddressTableLookups }),
	nested("parsed_instruction_data", structOf[fact.ParsedInstruction]("ParsedInstructionData",
		text("instruction_name", func(p *fact.ParsedInstruction) *string { return &p.Name }),
		text("discriminator", func(p *fact.ParsedInstruction) *string { return &p.Discriminator }),
		nested("named_accounts", solanaAddressesType, func(p *fact.ParsedInstruction) *fact.Map { return &p.NamedAccounts }),
		nested("named_account", solanaAddressesType, func(p *fact.ParsedInstruction) *fact.Map { return &p.NamedAccounts }),
		nested("program_call_args", arguments, func(p *fact.ParsedInstruction) *fact.Map { return &p.Args }),
	), func(i *fact.SolanaInstruction) *fact.ParsedInstruction { return i.Parsed }).unlessIn("an instruction that no stored interface describes"),
)

var referenceType = structOf[fact.AddressTableReference]("AddressTableReference",
	text("address_table_key", func(r *fact.AddressTableReference) *string { return &r.TableKey }).written(solanaAddressType),
	amount("index", func(r *fact.AddressTableReference) *fact.Number { return &r.Index }),
	flag("writable", func(r *fact.AddressTableReference) *bool { return &r.Writable }),
)

// otherContracts: each type of contract has a few of the fields.
const otherContracts = "a contract of another type"

var tronType = structOf[fact.TronTx]("TronTransaction",
	text("ref_block_bytes", func(t *fact.TronTx) *string { return &t.RefBlockBytes }),
	text("ref_block_hash", func(t *fact.TronTx) *string { return &t.RefBlockHash }),
	text("data", func(t *fact.TronTx) *string { return &t.Data }),
	amount("expiration", func(t *fact.TronTx) *fact.Number { return &t.Expiration }),
	amount("timestamp", func(t *fact.TronTx) *fact.Number { return &t.Timestamp }),
	amount("fee_limit", func(t *fact.TronTx) *fact.Number { return &t.FeeLimit }),
	nested("contract", listOf(tronContractType), func(t *fact.TronTx) *[]fact.TronContract { return &t.Contracts }),
)

var tronContractType = structOf[fact.TronContract]("TronContract",
	text("type", func(c *fact.TronContract) *string { return &c.Type }),
	text("owner_address", func(c *fact.TronContract) *string { return &c.OwnerAddress }).written(tronAddressType),
	amount("permission_id", func(c *fact.TronContract) *fact.Number { return &c.PermissionID }),
	text("to_address", func(c *fact.TronContract) *string { return c.ToAddress }).written(tronAddressType).unlessIn(otherContracts),
	amount("amount", func(c *fact.TronContract) *fact.Number { return c.Amount }).unlessIn(otherContracts),
	text("contract_address", func(c *fact.TronContract) *string { return c.ContractAddress }).written(tronAddressType).unlessIn(otherContracts),
	amount("call_value", func(c *fact.TronContract) *fact.Number { return c.CallValue }).unlessIn(otherContracts),
	text("data", func(c *fact.TronContract) *string { return c.Data }).unlessIn(otherContracts),
	amount("call_token_value", func(c *fact.TronContract) *fact.Number { return c.CallTokenValue }).unlessIn(otherContracts),
	amount("token_id", func(c *fact.TronContract) *fact.Number { return c.TokenID }).unlessIn(otherContracts),
	text("resource", func(c *fact.TronContract) *string { return c.Resource }).unlessIn(otherContracts),
	amount("balance", func(c *fact.TronContract) *fact.Number { return c.Balance }).unlessIn(otherContracts),
	text("receiver_address", func(c *fact.TronContract) *string { return c.ReceiverAddress }).written(tronAddressType).unlessIn(otherContracts),
	flag("lock", func(c *fact.TronContract) *bool { return c.Lock }).unlessIn(otherContracts),
	amount("lock_period", func(c *fact.TronContract) *fact.Number { return c.LockPeriod }).unlessIn(otherContracts),
	amount("frozen_balance", func(c *fact.TronContract) *fact.Number { return c.FrozenBalance }).unlessIn(otherContracts),
	amount("unfreeze_balance", func(c *fact.TronContract) *fact.Number { return c.UnfreezeBalance }).unlessIn(otherContracts),
	nested("owner", tronPermissionType, func(c *fact.TronContract) *fact.TronPermission { return c.Owner }).unlessIn(otherContracts),
	nested("witness", tronPermissionType, func(c *fact.TronContract) *fact.TronPermission { return c.Witness }).unlessIn(otherContracts),
	nested("actives", listOf(tronPermissionType), func(c *fact.TronContract) *[]fact.TronPermission { return exposed(&c.Actives) }).unlessIn(otherContracts),
)

var tronPermissionType = structOf[fact.TronPermission]("TronPermission",
	text("type", func(p *fact.TronPermission) *string { return &p.Type }),
	text("permission_name", func(p *fact.TronPermission) *string { return &p.Name }),
	text("operations", func(p *fact.TronPermission) *string { return &p.Operations }),
	amount("id", func(p *fact.TronPermission) *fact.Number { return &p.ID }),
	amount("threshold", func(p *fact.TronPermission) *fact.Number { return &p.Threshold }),
	amount("parent_id", func(p *fact.TronPermission) *fact.Number { return &p.ParentID }),
	nested("keys", listOf(structOf[fact.TronKey]("TronKey",
		text("address", func(k *fact.TronKey) *string { return &k.Address }).written(tronAddressType),
		amount("weight", func(k *fact.TronKey) *fact.Number { return &k.Weight }),
	)), func(p *fact.TronPermission) *[]fact.TronKey { return &p.Keys }),
)

var bitcoinType = structOf[fact.BitcoinTx]("BitcoinTransaction",
	text("version", func(t *fact.BitcoinTx) *string { return &t.Version }),
	nested("inputs", listOf(structOf[fact.BitcoinInput]("BitcoinInput",
		text("tx_id", func(i *fact.BitcoinInput) *string { return &i.TxID }),
		amount("vout", func(i *fact.BitcoinInput) *fact.Number { return &i.Vout }),
		amount("sequence", func(i *fact.BitcoinInput) *fact.Number { return &i.Sequence }),
	)), func(t *fact.BitcoinTx) *[]fact.BitcoinInput { return &t.Inputs }),
	nested("outputs", listOf(structOf[fact.BitcoinOutput]("BitcoinOutput",
		amount("value", func(o *fact.BitcoinOutput) *fact.Number { return &o.Value }),
		text("script_pubkey", func(o *fact.BitcoinOutput) *string { return &o.ScriptPubkey }),
		text("address", func(o *fact.BitcoinOutput) *string { return &o.Address }).written(bitcoinAddressType),
		caseInsensitive("address_type", func(o *fact.BitcoinOutput) *string { return &o.AddressType }),
	)), func(t *fact.BitcoinTx) *[]fact.BitcoinOutput { return &t.Outputs }),
	nested("locktime", structOf[fact.BitcoinTx]("Locktime",
		amount("amount", func(t *fact.BitcoinTx) *fact.Number { return &t.LocktimeAmount }),
		text("type", func(t *fact.BitcoinTx) *string { return &t.LocktimeType }).oneOf("Seconds", "Blocks"),
	), func(t *fact.BitcoinTx) *fact.BitcoinTx { return t }),
	told(amount("fee", func(t *fact.BitcoinTx) *fact.Number { return &t.Fee }), func(t *fact.BitcoinTx) string { return t.FeeUntold }),
)

var tempoType = structOf[fact.TempoTx]("TempoTransaction",
	caseInsensitive("from", func(t *fact.TempoTx) *string { return &t.From }).written(ethereumAddressType),
	caseInsensitive("fee_token", func(t *fact.TempoTx) *string { return &t.FeeToken }).written(ethereumAddressType),
	amount("chain_id", func(t *fact.TempoTx) *fact.Number { return &t.ChainID }),
	amount("nonce", func(t *fact.TempoTx) *fact.Number { return &t.Nonce }),
	amount("gas_limit", func(t *fact.TempoTx) *fact.Number { return &t.GasLimit }),
	amount("max_fee_per_gas", func(t *fact.TempoTx) *fact.Number { return &t.MaxFeePerGas }),
	amount("max_priority_fee_per_gas", func(t *fact.TempoTx) *fact.Number { return &t.MaxPriorityFeePerGas }),
	amount("valid_before", func(t *fact.TempoTx) *fact.Number { return &t.ValidBefore }),
	amount("valid_after", func(t *fact.TempoTx) *fact.Number { return &t.ValidAfter }),
	nested("calls", listOf(structOf[fact.TempoCall]("TempoCall",
		caseInsensitive("to", func(c *fact.TempoCall) *string { return &c.To }).written(ethereumAddressType),
		caseInsensitive("input", func(c *fact.TempoCall) *string { return &c.Input }),
		text("function_signature", func(c *fact.TempoCall) *string { return &c.FunctionSignature }),
	)), func(t *fact.TempoTx) *[]fact.TempoCall { return &t.Calls }),
)

var sparkDerivationType = structOf[fact.SparkDerivation]("SparkKeyDerivation",
	text("type", func(d *fact.SparkDerivation) *string { return &d.Type }),
	nested("signing_leaf", structOf[fact.SparkDerivation]("SparkSigningLeafDerivation",
		text("leaf_id", func(d *fact.SparkDerivation) *string { return &d.LeafID }),
	), func(d *fact.SparkDerivation) *fact.SparkDerivation { return d }),
	nested("static_deposit", structOf[fact.SparkDerivation]("SparkStaticDepositDerivation",
		amount("index", func(d *fact.SparkDerivation) *fact.Number { return &d.Index }),
	), func(d *fact.SparkDerivation) *fact.SparkDerivation { return d }),
)

var sparkSignatureType = structOf[fact.SparkSignature]("SparkSignatureRequest",
	nested("derivation", sparkDerivationType, func(s *fact.SparkSignature) *fact.SparkDerivation { return &s.Derivation }),
	text("message", func(s *fact.SparkSignature) *string { return &s.Message }),
	text("verifying_key", func(s *fact.SparkSignature) *string { return &s.VerifyingKey }),
	nested("operator_commitments", listOf(structOf[fact.SparkCommitment]("SparkFrostCommitment",
		text("id", func(c *fact.SparkCommitment) *string { return &c.ID }),
		text("hiding", func(c *fact.SparkCommitment) *string { return &c.Hiding }),
		text("binding", func(c *fact.SparkCommitment) *string { return &c.Binding }),
	)), func(s *fact.SparkSignature) *[]fact.SparkCommitment { return &s.OperatorCommitments }),
	text("adaptor_public_key", func(s *fact.SparkSignature) *string { return &s.AdaptorPublicKey }),
)

var sparkOperatorType = structOf[fact.SparkOperator]("SparkOperatorRecipient",
	text("operator_id", func(o *fact.SparkOperator) *string { return &o.OperatorID }),
	text("encryption_public_key", func(o *fact.SparkOperator) *string { return &o.EncryptionPublicKey }),
)

var sparkTransferType = structOf[fact.SparkTransfer]("SparkTransferPackage",
	text("transfer_id", func(t *fact.SparkTransfer) *string { return &t.TransferID }),
	nested("leaves", listOf(structOf[fact.SparkTransferLeaf]("SparkTransferLeaf",
		text("leaf_id", func(l *fact.SparkTransferLeaf) *string { return &l.LeafID }),
		nested("old_leaf_derivation", sparkDerivationType, func(l *fact.SparkTransferLeaf) *fact.SparkDerivation { return &l.OldDerivation }),
		nested("new_leaf_derivation", sparkDerivationType, func(l *fact.SparkTransferLeaf) *fact.SparkDerivation { return &l.NewDerivation }),
		text("refund_signature", func(l *fact.SparkTransferLeaf) *string { return &l.RefundSignature }),
		text("direct_refund_signature", func(l *fact.SparkTransferLeaf) *string { return &l.DirectRefundSignature }),
		text("direct_from_cpfp_refund_signature", func(l *fact.SparkTransferLeaf) *string { return &l.DirectFromCPFPRefundSignature }),
	)), func(t *fact.SparkTransfer) *[]fact.SparkTransferLeaf { return &t.Leaves }),
	amount("threshold", func(t *fact.SparkTransfer) *fact.Number { return &t.Threshold }),
	nested("operator_recipients", listOf(sparkOperatorType), func(t *fact.SparkTransfer) *[]fact.SparkOperator { return &t.OperatorRecipients }),
	text("receiver_public_key", func(t *fact.SparkTransfer) *string { return &t.ReceiverPublicKey }),
)

var sparkClaimType = structOf[fact.SparkClaim]("SparkClaimPackage",
	nested("leaves", listOf(structOf[fact.SparkClaimLeaf]("SparkClaimLeaf",
		text("leaf_id", func(l *fact.SparkClaimLeaf) *string { return &l.LeafID }),
		text("ciphertext", func(l *fact.SparkClaimLeaf) *string { return &l.Ciphertext }),
		text("sender_signature", func(l *fact.SparkClaimLeaf) *string { return &l.SenderSignature }),
	)), func(c *fact.SparkClaim) *[]fact.SparkClaimLeaf { return &c.Leaves }),
	amount("threshold", func(c *fact.SparkClaim) *fact.Number { return &c.Threshold }),
	nested("operator_recipients", listOf(sparkOperatorType), func(c *fact.SparkClaim) *[]fact.SparkOperator { return &c.OperatorRecipients }),
	text("transfer_id", func(c *fact.SparkClaim) *string { return &c.TransferID }),
	text("sender_identity_public_key", func(c *fact.SparkClaim) *string { return &c.SenderIdentityPublicKey }),
)

var sparkLightningType = structOf[fact.SparkLightningReceive]("SparkLightningReceivePackage",
	amount("threshold", func(l *fact.SparkLightningReceive) *fact.Number { return &l.Threshold }),
	nested("operator_recipients", listOf(sparkOperatorType), func(l *fact.SparkLightningReceive) *[]fact.SparkOperator { return &l.OperatorRecipients }),
)
