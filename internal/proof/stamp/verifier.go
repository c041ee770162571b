package stamp

import (
	"errors"

	"latchkey/internal/keys/curve"
)

// Verifier checks stamps. It remembers the keys that it parsed, a bounded
// number of them, as parsing costs a good part of a verification. The zero
// value is ready, and safe for concurrent use; it must not be copied.
type Verifier struct {
	// Remember is how many keys a generation has; 0: as many as a busy server
	// needs.
	Remember int

	apiKeys  remembered[curve.PublicKey]
	passkeys remembered[passkeyVerifier]
}

// VerifyAPIKey checks that the stamp's own key signed body. Whether the key
// belongs to a user is not checked.
func (v *Verifier) VerifyAPIKey(s *Stamp, body []byte) error {
	if s.Scheme.Curve() == "" {
		return invalid("could not verify api key signature: the stamp is not that of an API key")
	}
	key, err := v.apiKey(s)
	if err == nil {
		err = s.verify(key, body)
	}
	switch {
	case errors.Is(err, errMismatch):
		return invalid("could not verify api key signature").Because(err)
	case err != nil:
		return invalid("could not verify api key signature: %v", err)
	}
	return nil
}

func (v *Verifier) apiKey(s *Stamp) (curve.PublicKey, error) {
	name := string(s.Scheme.Curve()) + ":" + s.PublicKey
	if key, ok := v.apiKeys.get(name); ok {
		return key, nil
	}
	key, err := curve.ParsePublicKey(s.Scheme.Curve(), s.PublicKey)
	if err != nil {
		return curve.PublicKey{}, err
	}
	v.apiKeys.put(name, key, v.Remember)
	return key, nil
}
