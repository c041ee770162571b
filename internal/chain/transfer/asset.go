package transfer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mr-tron/base58"

	"latchkey/internal/policy/fact"
)

// The namespaces of CAIP-2.
const (
	evm     = "eip155"
	solana  = "solana"
	tronNet = "tron"
	bitcoin = "bip122"
)

// bitcoinNetworks are the first half of the hashes of the genesis blocks.
var bitcoinNetworks = map[string]string{
	"000000000019d6689c085ae165831e93": "mainnet",
	"000000000933ea01ad0ee984209779ba": "testnet",
	"00000008819873e925422c1ff0f99f7c": "signet",
	"0f9188f13cb7b2c71f2a335e3a4fc328": "regtest",
}

const assetForm = "must be a CAIP-19 asset, such as eip155:1/slip44:60, eip155:8453/erc20:0x…, solana:<genesis>/token:<mint>, tron:728126428/trc20:<address> or bip122:<genesis>/slip44:0"

// ParseAsset reads a CAIP-19 name. Names of the same asset give equal assets. Its
// errors continue a sentence about the name.
func ParseAsset(name string) (fact.Asset, error) {
	chain, token, ok := strings.Cut(name, "/")
	namespace, network, ok2 := strings.Cut(chain, ":")
	kind, reference, ok3 := strings.Cut(token, ":")
	if !ok || !ok2 || !ok3 {
		return fact.Asset{}, errors.New(assetForm)
	}
	rules, known := chains[namespace]
	if !known {
		return fact.Asset{}, fmt.Errorf("names a chain of the namespace %s; known are %s, %s, %s and %s", shown(namespace), evm, solana, tronNet, bitcoin)
	}
	asset := fact.Asset{Namespace: namespace}
	var err error
	if asset.Network, err = rules.network(network); err != nil {
		return fact.Asset{}, err
	}
	switch {
	case kind == "slip44" && reference == rules.coin:
		return asset, nil
	case kind == "slip44":
		return fact.Asset{}, fmt.Errorf("names another coin type than that of the chain; the native asset is %s:%s/slip44:%s", namespace, shown(network), rules.coin)
	case rules.tokens == "":
		return fact.Asset{}, fmt.Errorf("names a token; of %s only the native asset is known, %s:%s/slip44:%s", namespace, namespace, shown(network), rules.coin)
	case kind != rules.tokens:
		return fact.Asset{}, fmt.Errorf("names a kind of token that is not read on this chain; write %s:%s/%s:<address>", namespace, shown(network), rules.tokens)
	}
	asset.Token, err = rules.token(reference)
	return asset, err
}

// chain is how the assets of one namespace are named.
type chain struct {
	network func(string) (string, error)
	coin    string // its type by SLIP-44
	tokens  string // the namespace of its tokens; empty: there are none
	token   func(string) (string, error)
}

var chains = map[string]chain{
	evm: {network: number("an EVM chain is named by its chain id, such as eip155:1"), coin: "60", tokens: "erc20", token: ethereumToken},
	solana: {
		network: func(n string) (string, error) {
			if raw, err := base58.Decode(n); err != nil || len(n) != 32 || len(raw) == 0 {
				return "", errors.New("names a Solana network otherwise than by the first 32 characters of its genesis hash, such as solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp")
			}
			return n, nil
		},
		coin: "501", tokens: "token", token: solanaToken,
	},
	tronNet: {network: number("a Tron network is named by its chain id, such as tron:728126428"), coin: "195", tokens: "trc20", token: tronToken},
	bitcoin: {
		network: func(n string) (string, error) {
			if bitcoinNetworks[n] == "" {
				return "", errors.New("names a network that is not Bitcoin's; its main network is bip122:000000000019d6689c085ae165831e93")
			}
			return n, nil
		},
		coin: "0",
	},
}

// number reads a chain id, in decimal or in hex with 0x, as Tron's is written too.
func number(form string) func(string) (string, error) {
	return func(n string) (string, error) {
		base, digits := 10, n
		if rest, isHex := strings.CutPrefix(n, "0x"); isHex {
			base, digits = 16, rest
		}
		id, err := strconv.ParseUint(digits, base, 64)
		if err != nil || id == 0 || strings.HasPrefix(digits, "0") || strings.HasPrefix(digits, "+") {
			return "", errors.New("names no network: " + form)
		}
		return strconv.FormatUint(id, 10), nil
	}
}

func ethereumToken(reference string) (string, error) {
	digits, ok := strings.CutPrefix(reference, "0x")
	if raw, err := hex.DecodeString(digits); !ok || err != nil || len(raw) != 20 {
		return "", errors.New("names a token otherwise than by its address, 0x and 40 hex digits")
	}
	return strings.ToLower(reference), nil
}

func solanaToken(reference string) (string, error) {
	if raw, err := base58.Decode(reference); err != nil || len(raw) != 32 {
		return "", errors.New("names a token otherwise than by its mint, 32 bytes in base58")
	}
	return reference, nil
}

func tronToken(reference string) (string, error) {
	raw, err := base58.Decode(reference)
	if err != nil || len(raw) != 25 || raw[0] != 0x41 {
		return "", errors.New("names a token otherwise than by its address, which begins with T")
	}
	first := sha256.Sum256(raw[:21])
	if second := sha256.Sum256(first[:]); !bytes.Equal(second[:4], raw[21:]) {
		return "", errors.New("names a token by an address whose checksum is wrong")
	}
	return reference, nil
}

// shown is a part of a name as an error may repeat it.
func shown(part string) string {
	if len(part) > 40 {
		part = part[:40] + "…"
	}
	return strings.ToValidUTF8(part, "")
}
