package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/mr-tron/base58"

	"latchkey/internal/policy/fact"
)

// form is how the texts of a field are written.
type form struct {
	// problem says why the field is never this text; empty: it may be.
	problem func(text string) string
}

// The types of addresses: strings that are compared like others.
var (
	ethereumAddressType = &typ{kind: kindText, name: foldType.name, fold: true, form: &form{ethereumProblem}}
	solanaAddressType   = &typ{kind: kindText, name: textType.name, form: &form{solanaProblem}}
	solanaAddressesType = &typ{kind: kindMap, name: texts.name, elem: solanaAddressType}
	tronAddressType     = &typ{kind: kindText, name: textType.name, form: &form{tronProblem}}
	bitcoinAddressType  = &typ{kind: kindText, name: textType.name, form: &form{bitcoinProblem}}
	anyAddressType      = &typ{kind: kindText, name: textType.name, form: &form{anyProblem}}
)

// formOf is how the texts are written that a subject is, or has; nil: in any way.
// A part of an address is none.
func formOf(subject *node) *form {
	if subject.op == opSlice || subject.op == opIndex && subject.x.typ.kind == kindText {
		return nil
	}
	if t := subject.typ; t.kind == kindList || t.kind == kindMap {
		return t.elem.form
	}
	return subject.typ.form
}

func ethereumProblem(text string) string {
	if isAddress(strings.Replace(text, "0X", "0x", 1)) {
		return ""
	}
	return "an address is 0x and 40 hex digits"
}

func solanaProblem(text string) string {
	if text == fact.SolanaTableAccount {
		return ""
	}
	raw, err := base58.Decode(text)
	switch {
	case err != nil:
		return "an address is base58, which has neither 0, O, I nor l"
	case len(raw) != 32:
		return fmt.Sprintf("an address is 32 bytes in base58, and these are %d", len(raw))
	}
	return ""
}

func tronProblem(text string) string {
	if raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x")); err == nil && (len(raw) == 20 || len(raw) == 21) {
		return "addresses are compared in base58, as T…, and not in hex"
	}
	payload, problem := base58Check(text)
	if problem == "" && (len(payload) != 21 || payload[0] != 0x41) {
		problem = "an address is 21 bytes that begin with 41, in base58, and begins with T"
	}
	return problem
}

// base58Check is the payload of base58 that ends in a checksum.
func base58Check(text string) (payload []byte, problem string) {
	raw, err := base58.Decode(text)
	if err != nil || len(raw) < 5 {
		return nil, "it is no address in base58, which has neither 0, O, I nor l"
	}
	payload, sum := raw[:len(raw)-4], raw[len(raw)-4:]
	once := sha256.Sum256(payload)
	twice := sha256.Sum256(once[:])
	if !bytes.Equal(twice[:4], sum) {
		return nil, "its checksum is wrong, so it probably has a typo"
	}
	return payload, ""
}

// Bitcoin: base58 of a hash, or bech32 of a witness program (BIP-173, BIP-350).
func bitcoinProblem(text string) string {
	lower := strings.ToLower(text)
	hrp, _, found := strings.Cut(lower, "1")
	if found && (hrp == "bc" || hrp == "tb" || hrp == "bcrt") {
		return segwitProblem(text, lower)
	}
	payload, problem := base58Check(text)
	if problem == "" && (len(payload) != 21 || !bytes.Contains([]byte{0x00, 0x05, 0x6f, 0xc4}, payload[:1])) {
		problem = "it is no address of Bitcoin, which begins with 1, 3, m, n, 2, bc1, tb1 or bcrt1"
	}
	return problem
}

func segwitProblem(text, lower string) string {
	if text != lower {
		return "addresses of this kind are compared in lower case"
	}
	_, data, encoding, err := bech32.DecodeGeneric(text)
	if err != nil || len(data) == 0 {
		return "its checksum is wrong, so it probably has a typo"
	}
	version := data[0]
	program, err := bech32.ConvertBits(data[1:], 5, 8, false)
	wellFormed := err == nil && version <= 16 && len(program) >= 2 && len(program) <= 40
	if version == 0 {
		wellFormed = wellFormed && encoding == bech32.Version0 && (len(program) == 20 || len(program) == 32)
	} else {
		wellFormed = wellFormed && encoding == bech32.VersionM
	}
	if !wellFormed {
		return "it holds no witness program"
	}
	return ""
}

// anyProblem is about addresses of any chain: only what looks like one of a kind
// that has a checksum is checked.
func anyProblem(text string) string {
	switch {
	case strings.HasPrefix(text, "0x") && !isAddress(text) && len(text) < 60: // longer ones are of other chains
		return ethereumProblem(text)
	case len(text) == 34 && text[0] == 'T':
		return tronProblem(text)
	case strings.HasPrefix(text, "bc1"), strings.HasPrefix(text, "tb1"), strings.HasPrefix(text, "bcrt1"):
		return bitcoinProblem(text)
	}
	return ""
}
