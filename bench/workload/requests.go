package workload

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"latchkey/client"
)

// completed is in the reply of every activity that was carried out.
const completed = `"ACTIVITY_STATUS_COMPLETED"`

// reply is what the checks read of an activity's reply.
type reply struct {
	Activity struct {
		Status string `json:"status"`
		Result result `json:"result"`
	} `json:"activity"`
}

type result struct {
	SignRawPayload *struct {
		R string `json:"r"`
		S string `json:"s"`
		V string `json:"v"`
	} `json:"signRawPayloadResult"`
	SignTransaction *struct {
		SignedTransaction string `json:"signedTransaction"`
	} `json:"signTransactionResult"`
	CreateWallet *struct {
		WalletID  string   `json:"walletId"`
		Addresses []string `json:"addresses"`
	} `json:"createWalletResult"`
	CreateWalletAccounts *struct {
		Addresses []string `json:"addresses"`
	} `json:"createWalletAccountsResult"`
	CreateSubOrganization *createdSubOrganization `json:"createSubOrganizationResultV8"`
	CreateUsers           *struct {
		UserIDs []string `json:"userIds"`
	} `json:"createUsersResult"`
	CreatePolicies *struct {
		PolicyIDs []string `json:"policyIds"`
	} `json:"createPoliciesResult"`
}

type createdSubOrganization struct {
	ID     string `json:"subOrganizationId"`
	Wallet struct {
		WalletID  string   `json:"walletId"`
		Addresses []string `json:"addresses"`
	} `json:"wallet"`
	RootUserIDs []string `json:"rootUserIds"`
}

var errNoResult = errors.New("it has no result of the right kind")

// read hands the result of a reply to see.
func read(see func(result) error) func([]byte) error {
	return func(text []byte) error {
		var r reply
		if err := json.Unmarshal(text, &r); err != nil {
			return err
		}
		if r.Activity.Status != "ACTIVITY_STATUS_COMPLETED" {
			return fmt.Errorf("the activity is %s", r.Activity.Status)
		}
		return see(r.Activity.Result)
	}
}

func (o *organization) whoami() *draft {
	return &draft{
		operation: "query/whoami", stamper: o.root, want: []byte(o.id),
		body: fmt.Appendf(nil, `{"organizationId":"%s"}`, o.id),
	}
}

func (o *organization) getWalletAccount() *draft {
	address := o.inTurn()
	return &draft{
		operation: "query/get_wallet_account", stamper: o.root, want: []byte(address),
		body: fmt.Appendf(nil, `{"organizationId":"%s","walletId":"%s","address":"%s"}`, o.id, o.walletID, address),
	}
}

// listActivities reads the first page, of 10.
func (o *organization) listActivities() *draft {
	return &draft{
		operation: "query/list_activities", stamper: o.root, want: []byte(completed),
		body: fmt.Appendf(nil, `{"organizationId":"%s"}`, o.id),
	}
}

func (w *World) signRawPayload(o *organization) *draft {
	var digest [32]byte
	rand.Read(digest[:])
	address := o.inTurn()
	parameters := fmt.Appendf(nil, `{"signWith":"%s","payload":"%x","encoding":"PAYLOAD_ENCODING_HEXADECIMAL","hashFunction":"HASH_FUNCTION_NO_OP"}`,
		address, digest)
	operation, body := activity("sign_raw_payload", "SIGN_RAW_PAYLOAD_V2", o.id, parameters)
	return &draft{
		operation: operation, stamper: o.root, body: body, want: []byte(completed),
		check: checkPayload(address, digest),
	}
}

// checkPayload checks a signature of digest by the key of an address.
func checkPayload(address string, digest [32]byte) func([]byte) error {
	return read(func(r result) error {
		if r.SignRawPayload == nil {
			return errNoResult
		}
		raw, err := hex.DecodeString(r.SignRawPayload.V + r.SignRawPayload.R + r.SignRawPayload.S)
		if err != nil || len(raw) != 65 {
			return errors.New("r, s and v are not a signature")
		}
		return signedBy(address, digest, [65]byte(raw))
	})
}

func (w *World) signTransaction(o *organization, by client.Stamper) *draft {
	unsigned, address := transfer(w.sequence.Add(1)), o.inTurn()
	parameters := fmt.Appendf(nil, `{"signWith":"%s","unsignedTransaction":"%x","type":"TRANSACTION_TYPE_ETHEREUM"}`, address, unsigned)
	operation, body := activity("sign_transaction", "SIGN_TRANSACTION_V2", o.id, parameters)
	return &draft{
		operation: operation, stamper: by, body: body, want: []byte(completed),
		check: read(func(r result) error {
			if r.SignTransaction == nil {
				return errNoResult
			}
			signed, err := hex.DecodeString(r.SignTransaction.SignedTransaction)
			if err != nil {
				return err
			}
			return checkTransaction(address, unsigned, signed)
		}),
	}
}

// account is the one at an index of the wallet's Ethereum accounts.
func account(index uint64) []byte {
	return fmt.Appendf(nil, `{"curve":"CURVE_SECP256K1","pathFormat":"PATH_FORMAT_BIP32","path":"m/44'/60'/0'/0/%d","addressFormat":"ADDRESS_FORMAT_ETHEREUM"}`, index)
}

func (o *organization) createWallet(learn func(walletID, address string)) *draft {
	operation, body := activity("create_wallet", "CREATE_WALLET", o.id,
		fmt.Appendf(nil, `{"walletName":"Main","accounts":[%s]}`, account(0)))
	return &draft{
		operation: operation, stamper: o.root, body: body, want: []byte(completed),
		check: read(func(r result) error {
			if r.CreateWallet == nil || len(r.CreateWallet.Addresses) != 1 {
				return errNoResult
			}
			learn(r.CreateWallet.WalletID, r.CreateWallet.Addresses[0])
			return nil
		}),
	}
}

func (o *organization) createWalletAccounts() *draft {
	return o.addAccounts(o.accounts.Add(1), 1, func([]string) {})
}

// addAccounts adds n accounts from an index on, and tells their addresses when
// the reply is checked.
func (o *organization) addAccounts(from uint64, n int, learn func(addresses []string)) *draft {
	list := make([][]byte, n)
	for i := range list {
		list[i] = account(from + uint64(i))
	}
	operation, body := activity("create_wallet_accounts", "CREATE_WALLET_ACCOUNTS", o.id,
		fmt.Appendf(nil, `{"walletId":"%s","accounts":[%s]}`, o.walletID, bytes.Join(list, []byte{','})))
	return &draft{
		operation: operation, stamper: o.root, body: body, want: []byte(completed),
		check: read(func(r result) error {
			if r.CreateWalletAccounts == nil || len(r.CreateWalletAccounts.Addresses) != n {
				return errNoResult
			}
			for _, address := range r.CreateWalletAccounts.Addresses {
				if len(address) != len("0x")+40 {
					return errNoResult
				}
			}
			learn(r.CreateWalletAccounts.Addresses)
			return nil
		}),
	}
}

// createSubOrganization also returns the organization that the reply
// completes, when it is checked.
func (o *organization) createSubOrganization(number uint64) (*draft, *organization, error) {
	child, parameters, err := newChild(number, true)
	if err != nil {
		return nil, nil, err
	}
	operation, body := activity("create_sub_organization", "CREATE_SUB_ORGANIZATION_V8", o.id, parameters)
	return &draft{
		operation: operation, stamper: o.root, body: body, want: []byte(completed),
		check: read(func(r result) error {
			if r.CreateSubOrganization == nil {
				return errNoResult
			}
			return child.complete(r.CreateSubOrganization)
		}),
	}, child, nil
}

// newChild describes a sub-organization with a user, and a wallet if it shall
// have one.
func newChild(number uint64, wallet bool) (child *organization, parameters []byte, err error) {
	key, err := client.GenerateKey(client.P256)
	if err != nil {
		return nil, nil, err
	}
	parameters = fmt.Appendf(nil, `{"subOrganizationName":"Customer %d","rootUsers":[%s],"rootQuorumThreshold":1`, number, user("Owner", key, ""))
	if wallet {
		parameters = fmt.Appendf(parameters, `,"wallet":{"walletName":"Main","accounts":[%s]}`, account(0))
	}
	child = &organization{root: key.Stamper()}
	child.keys.root = key
	return child, append(parameters, '}'), nil
}

// complete learns what was made.
func (o *organization) complete(created *createdSubOrganization) error {
	if created.ID == "" || len(created.Wallet.Addresses) != 1 || len(created.RootUserIDs) != 1 {
		return errNoResult
	}
	o.id, o.walletID, o.address = created.ID, created.Wallet.WalletID, created.Wallet.Addresses[0]
	return nil
}

// user describes a user with one key; more are further members.
func user(name string, key client.PrivateKey, more string) []byte {
	return fmt.Appendf(nil, `{"userName":"%s","apiKeys":[{"apiKeyName":"Key","publicKey":"%s","curveType":"API_KEY_CURVE_P256"}],"authenticators":[],"oauthProviders":[]%s}`,
		name, key.PublicKey(), more)
}

func (o *organization) createMember(learn func(userID string)) (*draft, error) {
	key, err := client.GenerateKey(client.P256)
	if err != nil {
		return nil, err
	}
	o.member, o.keys.member = key.Stamper(), key
	operation, body := activity("create_users", "CREATE_USERS_V4", o.id,
		// Named after its key: a setup that is interrupted may add it again.
		fmt.Appendf(nil, `{"users":[%s]}`, user("Member "+key.PublicKey()[:12], key, `,"userTags":[]`)))
	return &draft{
		operation: operation, stamper: o.root, body: body, want: []byte(completed),
		check: read(func(r result) error {
			if r.CreateUsers == nil || len(r.CreateUsers.UserIDs) != 1 {
				return errNoResult
			}
			learn(r.CreateUsers.UserIDs[0])
			return nil
		}),
	}, nil
}
