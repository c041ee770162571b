package ops

import (
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
)

// This file holds what [ApproveActivity] and [RejectActivity] have in common.

// vote declares an operation that votes on an activity. It answers with that
// activity.
func vote(name, summary string, s domain.Selection, access activity.Access) activity.Op[VoteParams, VoteResult] {
	return activity.Op[VoteParams, VoteResult]{
		Spec:   activity.Spec{Name: name, Version: 1, Summary: summary, Govern: activity.Govern{By: decide.Vote}, Access: access},
		Ballot: func(p *VoteParams) (string, domain.Selection) { return p.Fingerprint, s },
	}
}

// VoteParams are the parameters of approve_activity and reject_activity.
type VoteParams struct {
	Fingerprint string `json:"fingerprint" check:"required,max=100" doc:"Fingerprint of the activity." example:"sha256:d2a7c0daa7b4764936c89dcb08a281d785441f48736ffede720ab2eac4811ed1"`
}

// VoteResult is never rendered: the result is that of the activity voted on.
type VoteResult struct{}

// Check refuses an invalid fingerprint.
func (p *VoteParams) Check(problems *schema.Problems) {
	digest, ok := strings.CutPrefix(p.Fingerprint, "sha256:")
	if !ok || len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		problems.Add("fingerprint", "must be sha256: and the 64 lower-case hex digits of the request's hash, as the activity shows it")
	}
}
