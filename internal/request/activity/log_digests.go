package activity

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/jsonwrite"
	"latchkey/internal/request/record"
	"latchkey/internal/store"
)

// LogDigests are what the log says of an activity: the digests of its votes, of
// what was decided and of its result, each over the RFC 8785 form of what clients
// read, so that a client can compute them from what it was shown.
func (c *Catalog) LogDigests(a *domain.Activity) (d store.LogDigests, err error) {
	d.Votes = digest(votesText(a))
	if d.Decision, err = decisionDigest(a); err != nil {
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
		for k, part := range [...]string{v.UserID, string(v.Selection), hexOf(message), v.Signature} {
			text = append(text, "[,,,"[k])
			text, _ = jsontext.AppendQuote(text, part) // of what is not UTF-8 it makes a text all the same
		}
		text = append(text, ']')
	}
	return append(text, ']')
}

func canonicalDigest(v any) (string, error) {
	sum, err := jsonwrite.CanonicalSum(v)
	if err != nil {
		return "", err
	}
	return hexOf(sum), nil
}

func digest(canonical jsontext.Value) string { return hexOf(sha256.Sum256(canonical)) }

func hexOf(sum [sha256.Size]byte) string {
	var text [2 * len(sum)]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}

// decided is what was decided, as clients read it.
type decided struct {
	Outcome           string           `json:"outcome"`
	PolicyEvaluations []VoteEvaluation `json:"policyEvaluations"`
}

// decisionDigest is the digest of [decided].
func decisionDigest(a *domain.Activity) (string, error) {
	var buffer [3 << 10]byte // enough for twenty policies: nothing is allocated
	text, ok := appendDecision(buffer[:0], a)
	if !ok {
		return canonicalDigest(&decided{outcome(a), Evaluations(a)})
	}
	return digest(text), nil
}

// appendDecision appends the RFC 8785 form of [decided]: every request has it made,
// and it is long where there are many policies. What is rarely there (ok is false)
// is left to the encoder.
func appendDecision(dst jsontext.Value, a *domain.Activity) (text jsontext.Value, ok bool) {
	text = appendTexts(dst, `{"outcome":`, outcome(a), `,"policyEvaluations":[`)
	for i := range a.Votes {
		v := &a.Votes[i]
		if len(v.Controls) > 0 {
			return nil, false
		}
		if i > 0 {
			text = append(text, ',')
		}
		at := record.Time(v.CreatedAt)
		text = appendTexts(text, `{"activityId":`, a.ID, `,"createdAt":{"nanos":`, at.Nanos, `,"seconds":`, at.Seconds,
			`},"id":`, v.ID, `,"organizationId":`, a.OrganizationID, `,"policyEvaluations":[`)
		for k := range v.Evaluations {
			e := &v.Evaluations[k]
			if e.Reason != "" {
				return nil, false
			}
			if k > 0 {
				text = append(text, ',')
			}
			text = appendTexts(text, `{"outcome":`, e.Outcome, `,"policyId":`, e.PolicyID, `}`)
		}
		text = appendTexts(text, `],"voteId":`, v.ID, `}`)
	}
	return append(text, `]}`...), true
}

// appendTexts appends pieces of JSON, each second one of which is a text to be quoted.
func appendTexts(dst jsontext.Value, pieces ...string) jsontext.Value {
	for i, piece := range pieces {
		if i%2 == 0 {
			dst = append(dst, piece...)
		} else {
			dst, _ = jsontext.AppendQuote(dst, piece) // ids and names of outcomes are UTF-8
		}
	}
	return dst
}
