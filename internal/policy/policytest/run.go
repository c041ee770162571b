package policytest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/vault"
	"latchkey/internal/keys/vault/unseal"
	"latchkey/internal/policy"
	"latchkey/internal/request/decide"
	"latchkey/internal/request/engine"
	"latchkey/internal/store"
	"latchkey/internal/store/sqlite"
)

// Report is the results of the cases of a file.
type Report struct {
	File     *File
	Results  []Result
	Coverage Coverage
}

// Result is the outcome of a case.
type Result struct {
	Case *Case
	// Failures say what differs from the expected; none: it passed.
	Failures []string
	Reply    *engine.ExplainReply
}

// Failed counts the cases that failed.
func (r *Report) Failed() (n int) {
	for i := range r.Results {
		if len(r.Results[i].Failures) > 0 {
			n++
		}
	}
	return n
}

// organization is the id of the organization in which the cases run.
var organization = madeUpID("organization", 0, "policy test")

// Run runs the cases in the order of the file. A request that no server would
// decide on is a mistake in the file, returned as [*Error].
func (f *File) Run(ctx context.Context) (_ *Report, err error) {
	dir, err := os.MkdirTemp("", "latchkey-policy-test-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := sqlite.Open(ctx, filepath.Join(dir, "store.db"), sqlite.Config{Linger: -1})
	if err != nil {
		return nil, err
	}
	s := store.New(db)
	defer func() { err = errors.Join(err, s.Close()) }()
	v, _, err := vault.Open(unseal.Random())
	if err != nil {
		return nil, err
	}
	defer v.Close()
	err = s.Bootstrap(ctx, func(c store.Ciphertexts, _ bool) (*vault.RowKeys, error) { return v.CreateRowKeys(c) })
	if err != nil {
		return nil, err
	}
	if err := s.CreateOrganization(ctx, organization, f.insert); err != nil {
		return nil, fmt.Errorf("creating the organization of %s: %w", f.Path, err)
	}
	return f.runCases(ctx, engine.New(engine.Config{
		Store: s, Catalog: f.catalog, Now: func() time.Time { return epoch },
	}))
}

// insert fills the organization. There is no key in its vault: nothing of this is
// ever executed.
func (f *File) insert(tx *store.Tx) error {
	err := tx.Organizations().Insert(&domain.Organization{
		ID: organization, Name: "Policy test", RootQuorum: f.quorum, CreatedAt: epoch, UpdatedAt: epoch,
	})
	policies := make([]*domain.Policy, len(f.Policies))
	for i, p := range f.Policies {
		policies[i] = &domain.Policy{
			ID: p.compiled.ID, Name: p.Name, Effect: p.Effect, Condition: p.Condition, Consensus: p.Consensus, Time: p.Time,
			Notes: p.Notes, CreatedAt: epoch, UpdatedAt: epoch,
		}
	}
	controls := make([]*domain.VelocityControl, len(f.controls))
	for i, c := range f.controls {
		controls[i] = c.VelocityControl
	}
	return errors.Join(
		err, insert(tx.VelocityControls(), controls), insert(tx.Tags(), f.tags), insert(tx.Users(), f.users), insert(tx.Policies(), policies),
		insert(tx.Wallets(), f.wallets), insert(tx.WalletAccounts(), f.accounts), insert(tx.PrivateKeys(), f.privateKeys),
		insert(tx.ContractInterfaces(), f.contracts),
	)
}

func insert[T any](table store.Table[T], records []*T) error {
	for _, record := range records {
		if err := table.Insert(record); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) runCases(ctx context.Context, e *engine.Engine) (*Report, error) {
	report := &Report{File: f}
	seen := newCoverageRecorder(f)
	var mistakes []Mistake
	for i := range f.Cases {
		c := &f.Cases[i]
		reply, decision, err := e.DryRun(ctx, organization, c.submitter, &c.asked, c.used)
		if refusal, ok := fault.As(err); ok && refusal.Code == fault.InvalidArgument {
			mistakes = append(mistakes, Mistake{Line: c.Line, Message: c.at + ".parameters: " + f.labels.Replace(refusal.Message)})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", f.Path, c.Line, c.Name, err)
		}
		seen.add(reply)
		report.Results = append(report.Results, Result{Case: c, Reply: reply, Failures: f.failures(c, reply, decision)})
	}
	if len(mistakes) > 0 {
		return nil, &Error{File: f.Path, Mistakes: sorted(mistakes)}
	}
	report.Coverage = seen.coverage()
	return report, nil
}

// outcomes are the outcomes as files spell them.
var outcomes = map[decide.Outcome]string{decide.Allow: "ALLOW", decide.Deny: "DENY", decide.Pending: "PENDING", decide.Unproven: "PENDING"}

// failures says what differs from what the case expects.
func (f *File) failures(c *Case, reply *engine.ExplainReply, decision *decide.Decision) (failures []string) {
	differs := func(what string, want, got []string) {
		slices.Sort(got)
		if want = slices.Sorted(slices.Values(want)); !slices.Equal(want, got) {
			failures = append(failures, fmt.Sprintf("expected %s %s, got %s", what, nameList(want), nameList(got)))
		}
	}
	if outcome := outcomes[decision.Outcome]; outcome != reply.Outcome {
		failures = append(failures, fmt.Sprintf("a server would decide %s, but explains %s: this is a bug of latchkey, please report it", outcome, reply.Outcome))
	}
	if reply.Outcome != c.Expect {
		failures = append(failures, fmt.Sprintf("expected %s, got %s: %s", c.Expect, reply.Outcome, reply.Reason))
	}
	if c.DeniedBy != nil {
		var denying []string
		for _, e := range decision.Evaluations {
			if e.Denies || e.Outcome == string(policy.DenyExplicit) {
				denying = append(denying, f.policyName(e.PolicyID))
			}
		}
		differs("deniedBy", c.DeniedBy, denying)
	}
	if c.CanApprove != nil {
		var able []string
		for _, u := range reply.CanApprove {
			able = append(able, u.UserName)
		}
		differs("canApprove", c.CanApprove, able)
	}
	return failures
}

func (f *File) policyName(id string) string {
	i := slices.IndexFunc(f.Policies, func(p FilePolicy) bool { return p.compiled.ID == id })
	if i < 0 {
		return id
	}
	return f.Policies[i].Name
}

func nameList(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
