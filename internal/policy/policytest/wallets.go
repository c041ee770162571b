package policytest

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/sha3"

	"latchkey/internal/domain"
	"latchkey/internal/keys/address"
	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/derivation"
)

// readWallets makes wallets with their accounts, and private keys.
func (r *reader) readWallets() {
	for i, w := range r.content.Wallets {
		at := "wallets." + strconv.Itoa(i)
		made := &domain.Wallet{
			ID: r.assignID(KindWallet, at, i, w.Name, w.ID), Name: w.Name, Imported: w.Imported, Exported: w.Exported,
			CreatedAt: epoch, UpdatedAt: epoch,
		}
		r.wallets = append(r.wallets, made)
		for j := range w.Accounts {
			r.readAccount(join(at, "accounts."+strconv.Itoa(j)), made, j, &w.Accounts[j])
		}
	}
	for i := range r.content.PrivateKeys {
		r.readPrivateKey("privateKeys."+strconv.Itoa(i), i, &r.content.PrivateKeys[i])
	}
}

func (r *reader) readAccount(at string, w *domain.Wallet, n int, a *account) {
	format := cmp.Or(a.Format, address.Ethereum)
	made := &domain.WalletAccount{
		ID: madeUpID("account", len(r.accounts), w.Name), WalletID: w.ID, Name: a.Name, Format: format,
		Curve: cmp.Or(a.Curve, format.Curves()[0]), CreatedAt: epoch, UpdatedAt: epoch,
	}
	text := a.PublicKey
	if text == "" && a.Address == "" {
		text = madeUpKey(keyCurves[made.Curve], made.ID)
	}
	public, ok := r.readPublicKey(at, made.Curve, text)
	if !ok {
		return
	}
	made.PublicKey, made.FullKey = public.compressed, public.full
	made.Address = r.readAddress(at, made.Curve, public, keyAddress{a.Address, a.Format})
	if a.Name != "" {
		r.define(KindAccount, at, a.Name, namedValue{made.Address, a.PublicKey == "" && a.Address == "", w.Name})
	}
	made.Path = cmp.Or(a.Path, "m/44'/60'/0'/0/"+strconv.Itoa(n))
	parsed, err := derivation.Parse(made.Path)
	if err != nil {
		r.reportPath(join(at, "path"), "%v", err)
		return
	}
	made.Derived = parsed.Normal(made.Curve).String()
	r.reserve(fmt.Sprintf("path %s %s %s %s", w.ID, made.Curve, format, made.Derived), join(at, "path"), "the path "+made.Path)
	r.accounts = append(r.accounts, made)
}

func (r *reader) readPrivateKey(at string, n int, k *privateKey) {
	made := &domain.PrivateKey{
		ID: r.assignID(KindPrivateKey, at, n, k.Name, k.ID), Name: k.Name, Curve: k.Curve,
		TagIDs: r.ids(KindPrivateKeyTag, join(at, "tags"), k.Tags), Imported: k.Imported, Exported: k.Exported,
		CreatedAt: epoch, UpdatedAt: epoch,
	}
	if made.Curve == "" {
		made.Curve = curve.KeySecp256k1
		if len(k.Addresses) > 0 && k.Addresses[0].Format != "" {
			made.Curve = k.Addresses[0].Format.Curves()[0]
		}
	}
	text := k.PublicKey
	if text == "" && !slices.ContainsFunc(k.Addresses, func(a keyAddress) bool { return a.Address != "" }) {
		text = madeUpKey(keyCurves[made.Curve], made.ID)
	}
	public, ok := r.readPublicKey(at, made.Curve, text)
	if !ok {
		return
	}
	made.PublicKey, made.FullKey = public.compressed, public.full
	for i, a := range k.Addresses {
		made.Addresses = append(made.Addresses, domain.Address{
			Format:  cmp.Or(a.Format, address.Ethereum),
			Address: r.readAddress(join(at, "addresses."+strconv.Itoa(i)), made.Curve, public, a),
		})
	}
	r.privateKeys = append(r.privateKeys, made)
}

// keyCurves maps the curves of keys to those of public keys.
var keyCurves = map[curve.KeyCurve]curve.Curve{
	curve.KeySecp256k1: curve.Secp256k1, curve.KeyEd25519: curve.Ed25519, curve.KeyP256: curve.P256,
}

// publicKey is a public key in its two forms; empty when it is not known.
type publicKey struct {
	raw              []byte
	compressed, full string
}

func (r *reader) readPublicKey(at string, c curve.KeyCurve, text string) (publicKey, bool) {
	if text == "" {
		return publicKey{}, true
	}
	key, err := curve.ParsePublicKey(keyCurves[c], text)
	if err != nil {
		r.reportPath(join(at, "publicKey"), "%v", err)
		return publicKey{}, false
	}
	raw, err := hex.DecodeString(key.String())
	if err == nil {
		var full []byte
		if full, err = curve.Uncompressed(c, raw); err == nil {
			return publicKey{raw, key.String(), hex.EncodeToString(full)}, true
		}
	}
	r.reportPath(join(at, "publicKey"), "%v", err)
	return publicKey{}, false
}

// readAddress is the address of a key, as the server would store it. One that is
// given must be that of the key, if the key is known.
func (r *reader) readAddress(at string, c curve.KeyCurve, public publicKey, given keyAddress) string {
	format := cmp.Or(given.Format, address.Ethereum)
	if !slices.Contains(format.Curves(), c) {
		r.reportPath(join(at, "format"), "%s needs a key on %v, and this one is on %s", format, format.Curves(), c)
		return ""
	}
	text, problem := given.Address, ""
	switch {
	case public.raw != nil:
		of, err := address.Of(format, c, public.raw)
		switch {
		case err != nil:
			problem = err.Error()
		case text != "" && !address.Equal(format, text, of):
			problem = "is not the address of publicKey, which is " + of
		}
		text = of
	case text == "":
		problem = "is required, or the publicKey that it follows from"
	case format == address.Ethereum:
		text, problem = eip55(text)
	}
	if problem != "" {
		r.reportPath(join(at, "address"), "%s", problem)
		return ""
	}
	r.reserve("address "+address.Key(text), join(at, "address"), "the address "+text)
	return text
}

var ethereumAddress = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)

// eip55 is an Ethereum address as it is stored: in the case of EIP-55.
func eip55(text string) (stored, problem string) {
	if !ethereumAddress.MatchString(text) {
		return "", "must be 0x and 40 hex digits; for an address of another kind, name its format"
	}
	digits := []byte(strings.ToLower(text[2:]))
	h := sha3.NewLegacyKeccak256()
	h.Write(digits)
	sum := hex.EncodeToString(h.Sum(nil))
	for i, d := range digits {
		if d >= 'a' && sum[i] >= '8' {
			digits[i] = d - 'a' + 'A'
		}
	}
	stored = "0x" + string(digits)
	mixed := strings.ToLower(text[2:]) != text[2:] && strings.ToUpper(text[2:]) != text[2:]
	if mixed && text != stored {
		return "", "fails its EIP-55 checksum, so it probably has a typo; if it has none, write " + stored
	}
	return stored, ""
}
