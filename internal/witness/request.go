package witness

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"latchkey/internal/translog"
)

// refusal is an answer other than a cosignature.
type refusal struct {
	status int
	size   int64 // of the newest cosigned checkpoint, with 409
	reason string
}

func (r *refusal) Error() string { return r.reason }

func refuse(status int, format string, args ...any) error {
	return &refusal{status: status, reason: fmt.Sprintf(format, args...)}
}

// submission is the body of add-checkpoint.
type submission struct {
	old        int64
	proof      []translog.Hash
	checkpoint string
}

// body writes a submission.
func (s submission) body() string {
	var b strings.Builder
	fmt.Fprintf(&b, "old %d\n", s.old)
	for _, h := range s.proof {
		fmt.Fprintf(&b, "%s\n", h)
	}
	return b.String() + "\n" + s.checkpoint
}

// parseSubmission reads what body writes.
func parseSubmission(body string) (submission, error) {
	head, checkpoint, found := strings.Cut(body, "\n\n")
	if !found {
		return submission{}, refuse(http.StatusBadRequest, "the body has no empty line between proof and checkpoint")
	}
	first, hashes, _ := strings.Cut(head, "\n")
	number, found := strings.CutPrefix(first, "old ")
	old, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || old < 0 || strconv.FormatInt(old, 10) != number {
		return submission{}, refuse(http.StatusBadRequest, "the first line is %.40q, not old and a size", first)
	}
	proof, err := translog.ParseHashes(hashes)
	if err != nil {
		return submission{}, refuse(http.StatusBadRequest, "the consistency proof: %v", err)
	}
	return submission{old: old, proof: proof, checkpoint: checkpoint}, nil
}

// AddCheckpoint answers the body of add-checkpoint: with signature lines, or with a
// refusal.
func (w *Witness) AddCheckpoint(body string) ([]byte, error) {
	s, err := parseSubmission(body)
	if err != nil {
		return nil, err
	}
	signed, err := w.open(s.checkpoint)
	if err != nil {
		return nil, err
	}
	if s.old > signed.Size {
		return nil, refuse(http.StatusBadRequest, "the old size %d is above the size of the checkpoint, %d", s.old, signed.Size)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.check(s, signed); err != nil {
		return nil, err
	}
	return w.cosign(signed)
}

// open verifies that a log which is known has signed a checkpoint.
func (w *Witness) open(checkpoint string) (*translog.Signed, error) {
	signed, err := translog.OpenCheckpoint([]byte(checkpoint), w.logs, nil)
	var unknown *translog.UnknownLogError
	var badlySigned *translog.SignatureError
	switch {
	case errors.As(err, &unknown):
		return nil, refuse(http.StatusNotFound, "%v", err)
	case errors.As(err, &badlySigned):
		return nil, refuse(http.StatusForbidden, "%v", err)
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "%v", err)
	}
	return signed, nil
}

// check refuses a checkpoint that was not shown to continue the newest one that was
// cosigned. The caller holds the lock.
func (w *Witness) check(s submission, signed *translog.Signed) error {
	last, head := w.state[signed.Origin], translog.EmptyHead()
	if last != nil {
		head = last.Head
	}
	if signed.Size == head.Size && signed.Root != head.Root && last != nil {
		w.remember(last, signed, "fork: the log has signed two trees of one size")
	}
	if s.old != head.Size {
		return &refusal{status: http.StatusConflict, size: head.Size, reason: fmt.Sprintf("the newest cosigned checkpoint has size %d, not %d", head.Size, s.old)}
	}
	if signed.Size == 0 && signed.Root != head.Root {
		return refuse(http.StatusUnprocessableEntity, "the root of an empty tree is not %s", signed.Root)
	}
	if err := translog.CheckConsistency(s.proof, signed.Head, head); err != nil {
		if last != nil && signed.Size != head.Size {
			w.remember(last, signed, "no proof: it was not shown that the second continues the first")
		}
		return refuse(http.StatusUnprocessableEntity, "%v", err)
	}
	return nil
}
