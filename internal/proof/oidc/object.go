package oidc

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// fromBase64 decodes a part of a token.
func fromBase64(name, part string) ([]byte, error) {
	// The decoder would skip line ends.
	if strings.ContainsAny(part, "\r\n") {
		return nil, fmt.Errorf("its %s has line ends: send the JWT as issued", name)
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return nil, fmt.Errorf("its %s is not base64url without padding: send the JWT as issued", name)
	}
	return raw, nil
}

// object is a part of a token, whose members are read by name.
type object struct {
	part    string // header or payload
	members map[string]jsontext.Value
}

// readObject decodes a part. Names that differ in case are different names, and
// a repeated one is an error.
func readObject(name, part string) (object, error) {
	raw, err := fromBase64(name, part)
	if err != nil {
		return object{}, err
	}
	o := object{part: name}
	switch err := json.Unmarshal(raw, &o.members); {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return object{}, fmt.Errorf("its %s has a repeated member", name)
	case err != nil, o.members == nil:
		return object{}, fmt.Errorf("its %s is not a JSON object", name)
	}
	return o, nil
}

func (o object) wrong(name, want string) error {
	if o.part == "header" {
		return fmt.Errorf("member %s of its header must be %s", name, want)
	}
	return fmt.Errorf("claim %s must be %s", name, want)
}

// get finds a member. null means absent.
func (o object) get(name string) (jsontext.Value, bool) {
	value, ok := o.members[name]
	return value, ok && value.Kind() != jsontext.KindNull
}

// text is the value of a string; empty if it is absent.
func (o object) text(name string) (string, error) {
	value, ok := o.get(name)
	if !ok {
		return "", nil
	}
	text, ok := asString(value)
	if !ok {
		return "", o.wrong(name, "a string")
	}
	return text, nil
}

// required is the value of a string that must be there.
func (o object) required(name string) (string, error) {
	text, err := o.text(name)
	if err == nil && text == "" {
		err = fmt.Errorf("claim %s is missing", name)
	}
	return text, err
}

// date is the value of a NumericDate (RFC 7519, section 2) in whole seconds;
// zero if it is absent.
func (o object) date(name string) (time.Time, error) {
	value, ok := o.get(name)
	if !ok {
		return time.Time{}, nil
	}
	const year10000 = 253402300800
	seconds, err := strconv.ParseFloat(string(value), 64)
	if value.Kind() != jsontext.KindNumber || err != nil || seconds < 0 || seconds >= year10000 {
		return time.Time{}, o.wrong(name, "a number of seconds since 1970")
	}
	return time.Unix(int64(math.Floor(seconds)), 0).UTC(), nil
}

// audience is the one audience of the token. Users are known by it, so a token
// for several would be as good for one as for another.
func (o object) audience() (string, error) {
	value, ok := o.get("aud")
	if !ok {
		return "", errors.New("claim aud is missing")
	}
	audience, ok := asString(value)
	if !ok {
		var all []jsontext.Value
		if value.Kind() != jsontext.KindBeginArray || json.Unmarshal(value, &all) != nil {
			return "", o.wrong("aud", "a string, or an array with one string")
		}
		if len(all) > 1 {
			return "", fmt.Errorf("claim aud has %d audiences: get a token for one audience only", len(all))
		}
		if len(all) == 1 {
			if audience, ok = asString(all[0]); !ok {
				return "", o.wrong("aud", "a string, or an array with one string")
			}
		}
	}
	if audience == "" {
		return "", errors.New("claim aud is empty")
	}
	return audience, nil
}

func asString(value jsontext.Value) (string, bool) {
	if value.Kind() != jsontext.KindString {
		return "", false
	}
	var text string
	err := json.Unmarshal(value, &text)
	return text, err == nil
}
