// Package fact holds what a policy may know about a request: plain records
// that are filled in before a decision and that the policy language reads. It
// decides nothing and reads nothing.
//
// A nil pointer is a root that the request does not have; a policy that reads
// it does not apply.
package fact

import "time"

// Consensus is what a consensus expression may read.
type Consensus struct {
	Approvers   []User
	Credentials []Credential
}

// User is a user whose approval counts.
type User struct {
	ID, Email, Alias string
	Tags             []string // ids
}

// Credential is what an approval was signed with.
type Credential struct {
	ID           string
	UserID       string
	Type         string
	CredentialID string // passkeys only
	PublicKey    string
}

// Request is what a condition may read.
type Request struct {
	Activity      Activity
	Wallet        *Wallet
	Wallets       []Wallet // nil: absent
	PrivateKey    *PrivateKey
	WalletAccount *WalletAccount
	Ethereum      *EthereumTx
	EIP712        *EIP712
	EIP7702       *EIP7702
	Solana        *SolanaTx
	Tron          *TronTx
	Bitcoin       *BitcoinTx
	Tempo         *TempoTx
	Secret        *Secret
	// Secrets are those that are asked for. The request is judged once for each
	// of them, as its Secret; nil: it asks for none.
	Secrets []*Secret
	// SignsFor is the wallet of the key that signs, or that key where it is in
	// none; empty: nothing is signed, or not with a key that is there.
	SignsFor string
	// Transfers tells what the signature moves; nil: nothing is signed. It is
	// asked only where there are velocity controls.
	Transfers func() (*Transfers, error)
	// Controls are the velocity controls that policies read.
	Controls []ControlState
}

// Parts are the requests that are judged, which is allowed only if all of them
// are.
func (r *Request) Parts() []*Request {
	if len(r.Secrets) == 0 {
		return []*Request{r}
	}
	parts := make([]*Request, len(r.Secrets))
	for i, secret := range r.Secrets {
		part := *r
		part.Secret = secret
		parts[i] = &part
	}
	return parts
}

// Clock is what a time expression may read.
type Clock struct{ Now time.Time }

// Activity is what is asked for.
type Activity struct {
	Type, Kind, Resource, Action string
	Params                       Params
}

// Params are the parameters that policies may read; nil and false: the
// activity does not expose them.
type Params struct {
	HashFunction     *string
	Encoding         *string
	Type             *string
	UserIDs          []string
	UserID           *string
	APIKeyIDs        []string
	TargetPublicKey  *string
	WalletID         *string
	OTPLength        *Number
	SessionProfileID *string
	EndpointID       *string
	// Ids of tags that users or private keys get and lose.
	TagsGiven, TagsTaken []string
	Spark                SparkParams
}

// Wallet is the wallet that is acted on.
type Wallet struct {
	ID, Label          string
	Imported, Exported bool
}

// PrivateKey is the private key that is acted on.
type PrivateKey struct {
	ID, Label          string
	Tags               []string
	Imported, Exported bool
}

// WalletAccount is the account that is acted on. Exporting says that the
// request exports it: only then are the other fields there.
type WalletAccount struct {
	Address string
	// Addresses are all that the account's key has, in every format, since a
	// request may name the key by any of them; nil: Address alone. They are made
	// when they are asked for.
	Addresses     func() []string
	Exporting     bool
	PathIndexes   []Number
	PathHardened  []bool
	WalletID      string
	Curve         string
	AddressFormat string
}

// EthereumTx is an unsigned Ethereum transaction.
type EthereumTx struct {
	From, To             string // To is empty for a contract creation
	Data                 string // 0x and lower-case hex
	Type                 string // LEGACY, TYPE_1 to TYPE_4
	FunctionName         string
	FunctionSignature    string
	Value                Number
	Gas                  Number
	GasPrice             Number
	ChainID              Number
	Nonce                Number
	MaxFeePerGas         Number
	MaxPriorityFeePerGas Number
	MaxFeePerBlobGas     Number
	ContractCallArgs     *Map // nil: no interface fits the call
}

// EIP712 is typed data.
type EIP712 struct {
	PrimaryType string
	Domain      EIP712Domain
	Message     Map
}

// EIP712Domain is who asks for typed data to be signed.
type EIP712Domain struct {
	Name, Version, VerifyingContract string
	ChainID                          Number
}

// EIP7702 is an authorization to run a contract's code as the account.
type EIP7702 struct {
	Address        string
	ChainID, Nonce Number
}

// SolanaTx is an unsigned Solana transaction.
type SolanaTx struct {
	AccountKeys  []string
	ProgramKeys  []string
	Instructions []SolanaInstruction
	Transfers    []SolanaTransfer
	SPLTransfers []SPLTransfer
	Effects      []SolanaEffect
	// Why the instructions of the System Program, or of the token programs,
	// cannot be listed; empty: all of them are.
	SystemUntold, TokensUntold   string
	RecentBlockhash              string
	AddressTableLookups          []AddressTableLookup
	AddressTableLookupReferences []AddressTableReference
}

// SolanaInstruction is one call of a program.
type SolanaInstruction struct {
	ProgramKey          string
	DataHex             string // without 0x
	Accounts            []SolanaAccount
	AddressTableLookups []AddressTableReference
	Parsed              *ParsedInstruction // nil: no interface fits the call
}

// SolanaAccount is an account that an instruction names.
type SolanaAccount struct {
	Key              string
	Signer, Writable bool
}

// ParsedInstruction is an instruction as its program's interface reads it.
type ParsedInstruction struct {
	Name          string
	Discriminator string
	NamedAccounts Map
	Args          Map
}

// SolanaTransfer is lamports that the System Program moves, or an account whose
// control it gives away with all that it holds.
type SolanaTransfer struct {
	From, To string
	Amount   *Number // nil: the transaction does not say how much
}

// SPLTransfer is tokens that one of the token programs moves or lets another
// account move, or an account whose control it gives away.
type SPLTransfer struct {
	From, To, Owner, TokenMint string  // empty: the instruction names none
	Amount                     *Number // nil: the transaction does not say how much
	Signers                    []string
}

// SolanaEffect is what an instruction of the System Program or of the token
// programs does beside moving value between two accounts: it changes who
// controls an account or a mint, makes or ends one, or changes how many tokens
// there are.
type SolanaEffect struct {
	Program, Kind string
	Account       string  // that is changed
	Authority     string  // who gets control of it, or its value; empty: none
	Amount        *Number // nil: the transaction does not say how much
}

// SolanaTableAccount is the name of an account that the transaction takes from a
// table on chain: the transaction does not say which account that is.
const SolanaTableAccount = "ADDRESS_TABLE_LOOKUP"

// SolanaEffectKinds are what the kind of an effect can be: the names that the
// programs give to their instructions.
func SolanaEffectKinds() []string {
	return []string{
		"Allocate", "AllocateWithSeed", "Approve", "ApproveChecked", "Assign", "AssignWithSeed", "AuthorizeNonceAccount",
		"Burn", "BurnChecked", "CloseAccount", "CreateAccount", "CreateAccountWithSeed", "FreezeAccount",
		"InitializeAccount", "InitializeAccount2", "InitializeAccount3", "InitializeImmutableOwner", "InitializeMint",
		"InitializeMint2", "InitializeMintCloseAuthority", "InitializeMultisig", "InitializeMultisig2",
		"InitializeNonceAccount", "InitializePermanentDelegate", "MintTo", "MintToChecked", "Revoke", "SetAuthority",
		"ThawAccount",
	}
}

// AddressTableLookup is the use of one address table.
type AddressTableLookup struct {
	TableKey                         string
	WritableIndexes, ReadonlyIndexes []Number
}

// AddressTableReference is one account from an address table.
type AddressTableReference struct {
	TableKey string
	Index    Number
	Writable bool
}

// TronTx is an unsigned Tron transaction.
type TronTx struct {
	RefBlockBytes, RefBlockHash, Data string
	Expiration, Timestamp, FeeLimit   Number
	Contracts                         []TronContract
}

// TronContract is one contract of a Tron transaction. A field that its type
// does not have is nil.
type TronContract struct {
	Type, OwnerAddress                                          string
	PermissionID                                                Number
	ToAddress, ContractAddress, Data, Resource, ReceiverAddress *string
	Amount, CallValue, CallTokenValue, TokenID                  *Number
	Balance, LockPeriod, FrozenBalance, UnfreezeBalance         *Number
	Lock                                                        *bool
	Owner, Witness                                              *TronPermission
	Actives                                                     []TronPermission
}

// TronPermission says who may act for a Tron account.
type TronPermission struct {
	Type, Name, Operations  string
	ID, Threshold, ParentID Number
	Keys                    []TronKey
}

// TronKey is one key of a permission.
type TronKey struct {
	Address string
	Weight  Number
}

// BitcoinTx is an unsigned Bitcoin transaction.
type BitcoinTx struct {
	Version        string
	Inputs         []BitcoinInput
	Outputs        []BitcoinOutput
	LocktimeAmount Number
	LocktimeType   string // Seconds or Blocks
	Fee            Number
	FeeUntold      string // why the fee is not proven; empty: it is
}

// BitcoinInput is a coin that is spent.
type BitcoinInput struct {
	TxID           string
	Vout, Sequence Number
}

// BitcoinOutput is a coin that is made.
type BitcoinOutput struct {
	Value                              Number
	ScriptPubkey, Address, AddressType string
}
