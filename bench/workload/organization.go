package workload

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"

	"latchkey/client"
)

// Organization is one to act in, with what requests in it need. It can be kept
// as JSON, private keys included: their users own nothing.
type Organization struct {
	ID       string `json:"id"`
	Root     Key    `json:"root"`   // of its root user
	Member   Key    `json:"member"` // of the user under policies
	WalletID string `json:"walletId"`
	// Addresses are those that requests take turns with.
	Addresses []string `json:"addresses"`

	turn     atomic.Uint64 // of Addresses
	accounts atomic.Uint64 // how many were added
}

// Key is an API key that stamps requests.
type Key struct {
	private client.PrivateKey
	client.Stamper
}

// NewKey makes a key.
func NewKey() (Key, error) {
	private, err := client.GenerateKey(client.P256)
	return Key{private, private.Stamper()}, err
}

// MarshalText implements encoding.TextMarshaler: the text of a key file.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.private.KeyFile()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *Key) UnmarshalText(text []byte) (err error) {
	k.private, err = client.ParseKeyFile(string(text))
	k.Stamper = k.private.Stamper()
	return err
}

// address is the one that the next request is about.
func (o *Organization) address() string {
	return o.Addresses[o.turn.Add(1)%uint64(len(o.Addresses))]
}

func (o *Organization) whoami() *draft {
	return o.query("whoami", o.ID, fmt.Appendf(nil, `{"organizationId":"%s"}`, o.ID))
}

func (o *Organization) getWalletAccount() *draft {
	address := o.address()
	return o.query("get_wallet_account", address,
		fmt.Appendf(nil, `{"organizationId":"%s","walletId":"%s","address":"%s"}`, o.ID, o.WalletID, address))
}

// listActivities reads the first page, of 10.
func (o *Organization) listActivities() *draft {
	return o.query("list_activities", completed, fmt.Appendf(nil, `{"organizationId":"%s"}`, o.ID))
}

func (o *Organization) signRawPayload() *draft {
	var digest [32]byte
	rand.Read(digest[:])
	address := o.address()
	parameters := fmt.Appendf(nil, `{"signWith":"%s","payload":"%x","encoding":"PAYLOAD_ENCODING_HEXADECIMAL","hashFunction":"HASH_FUNCTION_NO_OP"}`,
		address, digest)
	return o.submit("sign_raw_payload", "_V2", parameters, checkPayload(address, digest))
}

// checkPayload checks a signature of digest by the key of an address.
func checkPayload(address string, digest [32]byte) func(*result) error {
	return func(r *result) error {
		raw, err := hex.DecodeString(r.V + r.R + r.S)
		if err != nil || len(raw) != 65 {
			return errors.New("r, s and v are not a signature")
		}
		return signedBy(address, digest, [65]byte(raw))
	}
}

func (o *Organization) signTransaction(nonce uint64, by Key) *draft {
	unsigned, address := transfer(nonce), o.address()
	parameters := fmt.Appendf(nil, `{"signWith":"%s","unsignedTransaction":"%x","type":"TRANSACTION_TYPE_ETHEREUM"}`, address, unsigned)
	d := o.submit("sign_transaction", "_V2", parameters, func(r *result) error {
		signed, err := hex.DecodeString(r.SignedTransaction)
		if err != nil {
			return err
		}
		return checkTransaction(address, unsigned, signed)
	})
	d.by = by
	return d
}

// account is the one at an index of the wallet's Ethereum accounts.
func account(index uint64) []byte {
	return fmt.Appendf(nil, `{"curve":"CURVE_SECP256K1","pathFormat":"PATH_FORMAT_BIP32","path":"m/44'/60'/0'/0/%d","addressFormat":"ADDRESS_FORMAT_ETHEREUM"}`, index)
}

func (o *Organization) createWallet() *draft {
	return o.submit("create_wallet", "", fmt.Appendf(nil, `{"walletName":"Main","accounts":[%s]}`, account(0)), func(r *result) error {
		if r.WalletID == "" || len(r.Addresses) != 1 {
			return errResult
		}
		o.WalletID, o.Addresses = r.WalletID, r.Addresses
		return nil
	})
}

// addAccounts adds n accounts from an index on; their addresses go to learn.
func (o *Organization) addAccounts(from uint64, n int, learn func(addresses []string)) *draft {
	list := make([][]byte, n)
	for i := range list {
		list[i] = account(from + uint64(i))
	}
	parameters := fmt.Appendf(nil, `{"walletId":"%s","accounts":[%s]}`, o.WalletID, bytes.Join(list, []byte{','}))
	return o.submit("create_wallet_accounts", "", parameters, func(r *result) error {
		if len(r.Addresses) != n {
			return errResult
		}
		for _, address := range r.Addresses {
			if len(address) != len("0x")+40 {
				return errResult
			}
		}
		learn(r.Addresses)
		return nil
	})
}

// createSubOrganization also returns the organization, which is complete when
// the reply was checked.
func (o *Organization) createSubOrganization(number uint64, wallet bool) (*Organization, *draft) {
	key, err := NewKey()
	if err != nil {
		return nil, &draft{err: err}
	}
	child := &Organization{Root: key}
	parameters := fmt.Appendf(nil, `{"subOrganizationName":"Customer %d","rootUsers":[%s],"rootQuorumThreshold":1`, number, user("Owner", key, ""))
	if wallet {
		parameters = fmt.Appendf(parameters, `,"wallet":{"walletName":"Main","accounts":[%s]}`, account(0))
	}
	return child, o.submit("create_sub_organization", "_V8", append(parameters, '}'), func(r *result) error {
		child.ID, child.WalletID, child.Addresses = r.SubOrganizationID, r.Wallet.WalletID, r.Wallet.Addresses
		if child.ID == "" || wallet && len(child.Addresses) != 1 {
			return errResult
		}
		return nil
	})
}

// user describes a user with one key; more are further members of the object.
func user(name string, key Key, more string) []byte {
	return fmt.Appendf(nil, `{"userName":"%s","apiKeys":[{"apiKeyName":"Key","publicKey":"%s","curveType":"API_KEY_CURVE_P256"}],"authenticators":[],"oauthProviders":[]%s}`,
		name, key.PublicKey(), more)
}

// createMember creates the user under policies, whose id goes to learn.
func (o *Organization) createMember(learn func(userID string)) *draft {
	var err error
	if o.Member, err = NewKey(); err != nil {
		return &draft{err: err}
	}
	parameters := fmt.Appendf(nil, `{"users":[%s]}`, user("Member", o.Member, `,"userTags":[]`))
	return o.submit("create_users", "_V4", parameters, func(r *result) error {
		if len(r.UserIDs) != 1 {
			return errResult
		}
		learn(r.UserIDs[0])
		return nil
	})
}
