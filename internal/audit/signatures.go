package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/store"
)

// signatures verifies every recorded signature once more, over the bytes that
// were signed and with the key that was recorded; and that these bytes are about
// this activity. Whose key it was, the mark of the activity vouches for. In the
// same batches activities are compared with their newest entries of the log.
type signatures struct {
	audit    *Audit
	verifier stamp.Verifier
	batch    []*domain.Activity
	size     int // of what is in the batch
}

// A batch is verified on all cores at once.
const (
	maxBatch      = 512
	maxBatchBytes = 8 << 20
	// rememberedKeys bounds the memory for keys: each takes some kilobytes.
	rememberedKeys = 2048
)

func newSignatures(a *Audit) Check {
	return &signatures{audit: a, verifier: stamp.Verifier{Remember: rememberedKeys}}
}

// Item implements [Check].
func (*signatures) Item(context.Context, string, string, string, []byte) error { return nil }

// Activity implements [Check].
func (c *signatures) Activity(ctx context.Context, a *domain.Activity) error {
	c.batch = append(c.batch, a)
	if c.size += len(a.Body) + len(a.Intent) + len(a.Result); len(c.batch) < maxBatch && c.size < maxBatchBytes {
		return nil
	}
	return c.End(ctx)
}

// End implements [Check]: it ends a batch.
func (c *signatures) End(ctx context.Context) error {
	entries, err := c.audit.log.newest(ctx, c.batch)
	if err != nil {
		return err
	}
	results := make([]verified, len(c.batch))
	var workers sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for first := range n {
		workers.Go(func() {
			for i := first; i < len(c.batch); i += n {
				results[i] = c.verify(c.batch[i], entries[i])
			}
		})
	}
	workers.Wait()
	for _, r := range results {
		c.audit.counts.Signatures += r.checked
		c.audit.counts.Unsigned += r.without
		c.audit.counts.Unlogged += r.unlogged
		if err := c.audit.report(r.found...); err != nil {
			return err
		}
	}
	clear(c.batch)
	c.batch, c.size = c.batch[:0], 0
	return nil
}

// verified is what was seen of one activity.
type verified struct {
	found                      []store.Finding
	checked, without, unlogged int64
}

func (c *signatures) verify(a *domain.Activity, newest newestEntry) (r verified) {
	found := func(what string) {
		r.found = append(r.found, store.Finding{Org: a.OrganizationID, Kind: activityKind, ID: a.ID, What: what})
	}
	what, older := c.audit.log.activity(a, newest)
	if what != "" {
		found(what)
	}
	if older {
		r.unlogged++
	}
	if a.Omitted == 0 {
		if sha256.Sum256([]byte(a.Body)) != a.Fingerprint {
			found("its fingerprint is not the SHA-256 of the body that was signed")
		}
		var signed envelope
		if json.Unmarshal([]byte(a.Body), &signed) != nil || signed.TimestampMs != strconv.FormatInt(a.TimestampMs, 10) {
			found("its time is not that of the body that was signed")
		}
	}
	if len(a.Votes) == 0 {
		found("it has no votes, not even that of the user who submitted it")
	}
	for i := range a.Votes {
		vote := &a.Votes[i]
		message := vote.Message
		if message == "" && a.Omitted > 0 {
			r.without++
			continue
		}
		if message == "" {
			message = a.Body
		} else if !votesOn(vote, a) {
			found("the vote " + vote.ID + " is not on this activity, or says something else than what was signed")
		}
		r.checked++
		if c.verifier.VerifyRecorded(stamp.Scheme(vote.Scheme), vote.PublicKey, vote.Signature, []byte(message)) != nil {
			found("the signature of vote " + vote.ID + " does not fit what was signed")
		}
	}
	return r
}

// envelope is what counts here of a signed body.
type envelope struct {
	Type        string `json:"type"`
	TimestampMs string `json:"timestampMs"`
	Parameters  struct {
		Fingerprint string `json:"fingerprint"`
	} `json:"parameters"`
}

// votesOn reports whether the message that was signed votes on the activity, and
// says what is recorded.
func votesOn(v *domain.Vote, a *domain.Activity) bool {
	var signed envelope
	if json.Unmarshal([]byte(v.Message), &signed) != nil {
		return false
	}
	kinds := map[domain.Selection]string{
		domain.VoteApproved: "ACTIVITY_TYPE_APPROVE_ACTIVITY", domain.VoteRejected: "ACTIVITY_TYPE_REJECT_ACTIVITY",
	}
	on := strings.TrimPrefix(signed.Parameters.Fingerprint, "sha256:")
	return signed.Type == kinds[v.Selection] && strings.EqualFold(on, hex.EncodeToString(a.Fingerprint[:]))
}
