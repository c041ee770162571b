package eth

import (
	"errors"
	"math/big"

	"latchkey/internal/chain/rlp"
)

// Authorization lets a contract act as an account (EIP-7702).
type Authorization struct {
	ChainID *big.Int // 0 is any chain
	Address Address  // the contract
	Nonce   uint64
}

// authorizationMagic is MAGIC of EIP-7702; it keeps these digests apart from
// those of transactions.
const authorizationMagic = 0x05

// AuthorizationDigest reads {"address","chainId","nonce"} and says what must be
// signed. The numbers may be JSON numbers, decimal strings or hex strings.
func AuthorizationDigest(text []byte) ([32]byte, *Authorization, error) {
	doc, err := readJSON(text)
	if err != nil {
		return [32]byte{}, nil, err
	}
	members, ok := doc.(object)
	if !ok {
		return [32]byte{}, nil, errors.New("the authorization is not a JSON object")
	}
	if err := members.only("address", "chainId", "nonce"); err != nil {
		return [32]byte{}, nil, err
	}
	var a Authorization
	if a.Address, err = addressOf(members["address"]); err != nil {
		return [32]byte{}, nil, at("address", err)
	}
	if a.ChainID, err = integerOf(members["chainId"], 256, false); err != nil {
		return [32]byte{}, nil, at("chainId", err)
	}
	nonce, err := integerOf(members["nonce"], 64, false)
	if err != nil {
		return [32]byte{}, nil, at("nonce", err)
	}
	a.Nonce = nonce.Uint64()
	return a.Digest(), &a, nil
}

// Digest is what the account must sign.
func (a *Authorization) Digest() [32]byte {
	return keccak(rlp.AppendList([]byte{authorizationMagic}, a.appendFields(nil)))
}

func (a *Authorization) appendFields(b []byte) []byte {
	b = rlp.AppendBig(b, a.ChainID)
	b = rlp.AppendBytes(b, a.Address[:])
	return rlp.AppendUint64(b, a.Nonce)
}
