package ops

import (
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/curve"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// This file holds what several operations say about API keys.

// APIKeyParamsV2 describes an API key.
type APIKeyParamsV2 struct {
	APIKeyName        string        `json:"apiKeyName" check:"required,label" doc:"Human-readable name."`
	PublicKey         string        `json:"publicKey" check:"required,hex" doc:"Public key as hex: compressed for P-256 and secp256k1." example:"025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"`
	CurveType         curve.Curve   `json:"curveType" check:"required" doc:"Curve of the key."`
	ExpirationSeconds schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"Validity window in seconds; leave out for a key that does not expire."`
}

// P256APIKeyParams describes a P-256 API key, where a request names no curve.
type P256APIKeyParams struct {
	APIKeyName        string        `json:"apiKeyName" check:"required,label" doc:"Human-readable name."`
	PublicKey         string        `json:"publicKey" check:"required,hex" doc:"Compressed P-256 public key as hex." example:"025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"`
	ExpirationSeconds schema.Uint64 `json:"expirationSeconds,omitzero" check:"min=1" doc:"Validity window in seconds; leave out for a key that does not expire."`
}

// Check refuses what is not a public key of the curve.
func (p *APIKeyParamsV2) Check(problems *schema.Problems) {
	p.PublicKey = checkPublicKey(problems, p.CurveType, p.PublicKey)
}

// Check refuses what is not a public key of P-256.
func (p *P256APIKeyParams) Check(problems *schema.Problems) {
	p.PublicKey = checkPublicKey(problems, curve.P256, p.PublicKey)
}

// onP256 renders a list of older versions in the newest.
func onP256(keys []P256APIKeyParams) []APIKeyParamsV2 {
	newest := make([]APIKeyParamsV2, len(keys))
	for i, k := range keys {
		newest[i] = APIKeyParamsV2{
			APIKeyName: k.APIKeyName, PublicKey: k.PublicKey, CurveType: curve.P256, ExpirationSeconds: k.ExpirationSeconds,
		}
	}
	return newest
}

// checkPublicKey returns the key in the form in which keys are compared.
func checkPublicKey(problems *schema.Problems, c curve.Curve, text string) string {
	key, err := curve.ParsePublicKey(c, text)
	if err != nil {
		problems.Add("publicKey", "%v", err)
		return text
	}
	return key.String()
}

// addAPIKey gives the user a key and returns its id.
func addAPIKey(e activity.Env, u *domain.User, p APIKeyParamsV2) (string, error) {
	key := domain.APIKey{
		ID: e.NewID(), Name: p.APIKeyName, PublicKey: p.PublicKey, Type: domain.APIKeyType(p.CurveType),
		ExpirationSeconds: uint64(p.ExpirationSeconds), CreatedAt: e.Now, UpdatedAt: e.Now,
	}
	if key.Expires() {
		makeRoom(e, u)
	} else if limit := e.Limits.LongLivedAPIKeys; limit > 0 && countKeys(u, false) >= limit {
		return "", fault.Exhausted("user has exceeded maximum long-lived api keys (%d); delete one first", limit)
	}
	u.APIKeys = append(u.APIKeys, key)
	u.UpdatedAt = e.Now
	return key.ID, nil
}

// makeRoom makes room for one more expiring key: it drops an expired one if
// there is any, else the oldest.
func makeRoom(e activity.Env, u *domain.User) {
	for e.Limits.ExpiringAPIKeys > 0 && countKeys(u, true) >= e.Limits.ExpiringAPIKeys {
		drop := slices.IndexFunc(u.APIKeys, func(k domain.APIKey) bool { return k.Expired(e.Now) })
		if drop < 0 {
			drop = slices.IndexFunc(u.APIKeys, domain.APIKey.Expires)
		}
		u.APIKeys = slices.Delete(u.APIKeys, drop, drop+1)
	}
}

func countKeys(u *domain.User, expiring bool) int {
	var n int
	for _, k := range u.APIKeys {
		if k.Expires() == expiring {
			n++
		}
	}
	return n
}
