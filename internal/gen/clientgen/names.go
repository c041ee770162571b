package clientgen

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"latchkey/internal/schema"
)

// renamed gives names to what the server calls by a word that is too short
// outside of its package, or that the client uses for something else.
var renamed = map[string]string{
	"View":              "Activity",
	"VoteView":          "Vote",
	"PrivateKey":        "PrivateKeyRecord", // client.PrivateKey stamps requests
	"AccountParams":     "WalletAccountParameters",
	"Configs":           "OrganizationConfigs",
	"Feature":           "OrganizationFeature",
	"Quorum":            "RootQuorum",
	"Finding":           "PolicyFinding",
	"ContractInterface": "SmartContractInterface",
	"SignatureResult":   "Signature",
	"CURVE":             "KeyCurve", // client.Curve is that of API keys

	"MfaPolicy":           "MFAPolicy",
	"OauthProvider":       "OAuthProvider",
	"OauthProviderParams": "OAuthProviderParameters",
	"OidcClaims":          "OIDCClaims",
}

// version is the end of a server's type name that clients need not see: there
// is one version of a type in the client, the newest.
var version = regexp.MustCompile(`V[0-9]+$`)

// typeName is what the client calls a struct of the server.
func typeName(t reflect.Type) string {
	name := version.ReplaceAllString(t.Name(), "")
	if other := renamed[name]; other != "" {
		return other
	}
	if base, ok := strings.CutSuffix(name, "Params"); ok {
		name = base + "Parameters"
	}
	return upperFirst(name)
}

// enumName follows from what the values have in common (ADDRESS_FORMAT_), or
// from the type or the place of the value.
func enumName(in, t reflect.Type, p schema.Property) string {
	if len(p.Enum) > 1 {
		if common := commonWords(p.Enum); common != "" {
			if other := renamed[common]; other != "" {
				return other
			}
			return pascal(common)
		}
	}
	if t.Name() != "" && t.PkgPath() != "" {
		return typeName(t)
	}
	// SuborgFilter and filterType share a word.
	place, field := typeName(in), pascal(p.Name)
	for i := range field {
		if i > 0 && unicode.IsUpper(rune(field[i])) && strings.HasSuffix(place, field[:i]) {
			return place + field[i:]
		}
	}
	return place + field
}

// valueName is the constant of an enumeration's value.
func valueName(e *enum, value string) string {
	short := pascal(value)
	if common := commonWords(e.values); common != "" && len(e.values) > 1 {
		short = pascal(strings.TrimPrefix(value, common+"_"))
	}
	if rest, ok := strings.CutPrefix(short, e.name); ok && rest != "" {
		short = rest
	}
	return e.name + short
}

// commonWords is the longest beginning that all values share, in whole words
// that leave each value one more.
func commonWords(values []string) string {
	shared := strings.Split(values[0], "_")
	for _, v := range values {
		words := strings.Split(v, "_")
		n := 0
		for n < len(shared) && n < len(words)-1 && shared[n] == words[n] {
			n++
		}
		shared = shared[:n]
	}
	return strings.Join(shared, "_")
}

// spelled holds words that Go writes otherwise than with one capital.
var spelled = map[string]string{
	"aaguid": "AAGUID", "api": "API", "ble": "BLE", "caip2": "CAIP2", "id": "ID", "ids": "IDs", "json": "JSON", "mfa": "MFA",
	"nfc": "NFC", "oauth": "OAuth", "oidc": "OIDC", "otp": "OTP", "sms": "SMS", "ton": "TON", "url": "URL", "usb": "USB",
	"xlm": "XLM", "xrp": "XRP",
	"ed25519": "Ed25519", "keccak256": "Keccak256", "secp256k1": "Secp256k1",
}

// pascal turns create_api_keys, apiKeyId and ADDRESS_FORMAT_XRP into names of
// Go.
func pascal(name string) string {
	var out strings.Builder
	for _, word := range words(name) {
		lower := strings.ToLower(word)
		switch {
		case spelled[lower] != "":
			out.WriteString(spelled[lower])
		case strings.ContainsFunc(word, unicode.IsDigit) && word == strings.ToUpper(word): // P2PKH
			out.WriteString(word)
		default:
			out.WriteString(strings.ToUpper(lower[:1]) + lower[1:])
		}
	}
	return out.String()
}

// words divides at underscores, and where lower case turns into upper.
func words(name string) []string {
	var all []string
	for part := range strings.SplitSeq(name, "_") {
		start := 0
		for i := 1; i < len(part); i++ {
			if unicode.IsUpper(rune(part[i])) && !unicode.IsUpper(rune(part[i-1])) && part != strings.ToUpper(part) {
				all = append(all, part[start:i])
				start = i
			}
		}
		all = append(all, part[start:])
	}
	return slices.DeleteFunc(all, func(w string) bool { return w == "" })
}

func upperFirst(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// lowerFirst lets a sentence go on: it begins in lower case, unless its first
// word is an abbreviation.
func lowerFirst(sentence string) string {
	if len(sentence) > 1 && unicode.IsUpper(rune(sentence[1])) {
		return sentence
	}
	return strings.ToLower(sentence[:1]) + sentence[1:]
}
