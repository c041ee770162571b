package activity

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/jsonwrite"
	"latchkey/internal/store"
)

// LogDigests are what the log says of an activity: the digests of its votes, of
// what was decided and of its result, each over the RFC 8785 form of what clients
// read, so that a client can compute them from what it was shown.
func (c *Catalog) LogDigests(a *domain.Activity) (d store.LogDigests, err error) {
	d.Votes = digest(votesText(a))
	decision := struct {
		Outcome           string           `json:"outcome"`
		PolicyEvaluations []VoteEvaluation `json:"policyEvaluations"`
	}{outcome(a), Evaluations(a)}
	if d.Decision, err = canonicalDigest(&decision); err != nil {
		return d, err
	}
	if a.Status == domain.StatusCompleted {
		names, _, _, err := c.names(a)
		if err != nil {
			return d, err
		}
		d.Result, err = canonicalDigest(object(member{names.ResultKey, a.Result}))
		return d, err
	}
	return d, nil
}

// outcome is what was decided, as far as the activity tells.
func outcome(a *domain.Activity) string {
	switch {
	case a.Refused:
		return "OUTCOME_DENY"
	case a.Status == domain.StatusConsensusNeeded:
		return "OUTCOME_REQUIRES_CONSENSUS"
	case a.Status == domain.StatusAuthenticatorsNeeded:
		return "OUTCOME_REQUIRES_AUTHENTICATORS"
	case a.Status == domain.StatusRejected:
		return "OUTCOME_REJECTED"
	}
	return "OUTCOME_ALLOW"
}

// votesText is an array for each vote: the user, the selection, the SHA-256 of the
// message that was signed, and the signature.
func votesText(a *domain.Activity) jsontext.Value {
	text := make(jsontext.Value, 0, 512)
	text = append(text, '[')
	for i := range a.Votes {
		v := &a.Votes[i]
		message := a.Fingerprint
		if v.Message != "" {
			message = sha256.Sum256([]byte(v.Message))
		}
		if i > 0 {
			text = append(text, ',')
		}
		for k, part := range [...]string{v.UserID, string(v.Selection), hex.EncodeToString(message[:]), v.Signature} {
			text = append(text, "[,,,"[k])
			text, _ = jsontext.AppendQuote(text, part) // of what is not UTF-8 it makes a text all the same
		}
		text = append(text, ']')
	}
	return append(text, ']')
}

func canonicalDigest(v any) (string, error) {
	text, err := jsonwrite.Canonical(v)
	if err != nil {
		return "", err
	}
	return digest(text), nil
}

func digest(canonical jsontext.Value) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}
