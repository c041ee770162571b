package group

import (
	"context"
	"time"

	"latchkey/internal/store"
)

// Writer is how a driver writes the groups; see [Queue.Run].
type Writer struct {
	// Transact writes commits in one transaction and returns their refusals,
	// nil for each that was written, or the error with which the database
	// failed. The callers' contexts do not reach it: no caller may stop the
	// commits of others.
	Transact func(ctx context.Context, commits []*store.Commit) (refusals []error, err error)

	// RolledBack reports whether an error of Transact means that nothing was
	// written, so that each commit may be tried alone. nil: every error does.
	RolledBack func(err error) bool

	// Timeout bounds the Transact of a group, and then the sum of those of its
	// commits one by one, or the next group waits too long. 0: no bound.
	Timeout time.Duration

	// DistinctIDs keeps two new activities with the same id out of one
	// Transact, for a driver that could not tell their refusals apart.
	DistinctIDs bool

	// BeforeReply is called with each group before its callers learn the
	// outcomes: after that the commits belong to them again.
	BeforeReply func(commits []*store.Commit)

	// AfterReply is called when they have learned them.
	AfterReply func()
}

// Run writes groups until the queue is closed and empty. [Config.Writers] says
// how many goroutines do so.
func (q *Queue) Run(w Writer) {
	for {
		entries, ok := q.take()
		if !ok {
			return
		}
		if len(entries) == 0 {
			continue
		}
		commits := make([]*store.Commit, len(entries))
		for i, e := range entries {
			commits[i] = e.commit
		}
		outcomes := w.write(commits)
		if w.BeforeReply != nil {
			w.BeforeReply(commits)
		}
		q.finish(entries, outcomes)
		if w.AfterReply != nil {
			w.AfterReply()
		}
	}
}

// write returns the outcome of each commit.
func (w *Writer) write(commits []*store.Commit) []error {
	if !w.DistinctIDs {
		return w.writeOrSplit(commits)
	}
	outcomes := make([]error, len(commits))
	todo := make([]int, len(commits))
	for i := range todo {
		todo[i] = i
	}
	for len(todo) > 0 {
		now, later := distinctIDs(commits, todo)
		round := make([]*store.Commit, len(now))
		for k, i := range now {
			round[k] = commits[i]
		}
		for k, err := range w.writeOrSplit(round) {
			outcomes[now[k]] = err
		}
		todo = later
	}
	return outcomes
}

// distinctIDs divides the commits with these numbers: of those that append an
// activity with the same id only the first comes now.
func distinctIDs(commits []*store.Commit, numbers []int) (now, later []int) {
	seen := make(map[[2]string]bool, len(numbers))
	for _, i := range numbers {
		if c := commits[i]; c.Appends() {
			key := [2]string{c.Org, c.Activity.ID}
			if seen[key] {
				later = append(later, i)
				continue
			}
			seen[key] = true
		}
		now = append(now, i)
	}
	return now, later
}

// writeOrSplit writes the commits in one transaction. If one of them made the
// database fail, each is written alone, where it can only fail itself.
func (w *Writer) writeOrSplit(commits []*store.Commit) []error {
	ctx, cancel := w.context()
	outcomes, err := w.Transact(ctx, commits)
	cancel()
	if err == nil {
		return outcomes
	}
	outcomes = make([]error, len(commits))
	if len(commits) == 1 || w.RolledBack != nil && !w.RolledBack(err) {
		for i := range outcomes {
			outcomes[i] = err
		}
		return outcomes
	}
	ctx, cancel = w.context()
	defer cancel()
	for i := range commits {
		refusals, err := w.Transact(ctx, commits[i:i+1])
		if err == nil {
			err = refusals[0]
		}
		outcomes[i] = err
	}
	return outcomes
}

func (w *Writer) context() (context.Context, context.CancelFunc) {
	if w.Timeout == 0 {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), w.Timeout)
}
