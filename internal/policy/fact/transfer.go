package fact

// Asset is something of value on a chain, in the parts of its CAIP-19 name.
type Asset struct {
	Namespace string // eip155, solana, tron or bip122
	// Network is the reference of the chain. It is empty for what a transaction
	// moves that does not name its network: that is on every network.
	Network string
	Token   string // reference of the token; empty: the native asset
}

// Transfers are what a signature moves. What is not listed it does not move,
// except where Untold covers the asset.
type Transfers struct {
	Moved []Moved
	// TokenAccounts are Solana transfers whose instruction names no mint.
	TokenAccounts []TokenAccountTransfer
	Untold        []Untold
}

// Moved is an amount of one asset, in its smallest unit.
type Moved struct {
	Asset  Asset
	Amount Number
}

// TokenAccountTransfer is tokens that leave an account, of whatever mint that
// is: the account of its owner for a known mint can be recognized.
type TokenAccountTransfer struct {
	Account, Owner string
	Amount         Number
}

// Untold says for which assets the amount cannot be told, and why.
type Untold struct {
	Namespace string // empty: of every chain
	Network   string // empty: of every network
	Native    bool   // the native asset
	Tokens    bool   // tokens
	Why       string
}

// Covers reports whether the amount of the asset is not told.
func (u *Untold) Covers(a Asset) bool {
	if u.Namespace != "" && u.Namespace != a.Namespace || u.Network != "" && u.Network != a.Network {
		return false
	}
	return a.Token == "" && u.Native || a.Token != "" && u.Tokens
}

// ControlState is what a velocity control had before the request, and would have
// after it.
type ControlState struct {
	ID, Identifier string
	Group          string // empty: the request is in no group of it
	// Holds is whether the comparison holds with the request counted, and
	// HoldsFree whether it would if the window held nothing else.
	Holds, HoldsFree bool
	Used, After      string // decimal
	Left             string // before the request, of an upper bound; else empty
	Unreadable       string // why the request cannot be counted; then nothing holds
}
