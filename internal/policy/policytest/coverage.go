package policytest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"latchkey/internal/policy"
	"latchkey/internal/request/engine"
)

// Coverage is which clauses the cases saw true, and which false.
type Coverage []Clause

// Clause is what && and || join, or the body of a quantifier.
type Clause struct {
	Policy, Place string
	Source        string // as the file has it
	True, False   bool   // what it was seen as
	Failed        bool   // it was seen without a value
}

// Count returns how many outcomes of clauses, two each, were seen, and how many
// there are.
func (c Coverage) Count() (seen, all int) {
	for _, clause := range c {
		all += 2
		for _, was := range []bool{clause.True, clause.False} {
			if was {
				seen++
			}
		}
	}
	return seen, all
}

// Percent is the share of the outcomes that were seen, rounded down; 100 when
// there is no clause.
func (c Coverage) Percent() int {
	seen, all := c.Count()
	if all == 0 {
		return 100
	}
	return 100 * seen / all
}

// coverageRecorder collects coverage.
type coverageRecorder struct {
	file    *File
	clauses map[clausePlace]*Clause
	byID    map[string]int // place of a policy in the file
}

type clausePlace struct {
	policy       int
	place        policy.Place
	offset, size int
}

// newCoverageRecorder finds the clauses of all policies, of which none has been seen.
// The body of a quantifier is found when a case gives it an element; until then
// what is around it has not been seen both ways.
func newCoverageRecorder(f *File) *coverageRecorder {
	s := &coverageRecorder{file: f, clauses: map[clausePlace]*Clause{}, byID: map[string]int{}}
	for i := range f.Policies {
		s.byID[f.Policies[i].compiled.ID] = i
		for place, e := range f.Policies[i].expressions {
			var steps []engine.ExplainedStep
			for _, t := range e.expr.Trace(&policy.Env{Now: time.Time{}}) {
				steps = append(steps, engine.ExplainedStep{Source: t.Source, Offset: int32(t.Offset), Bound: t.Bound})
			}
			s.look(i, place, steps)
		}
	}
	return s
}

// add takes note of what a case showed.
func (s *coverageRecorder) add(reply *engine.ExplainReply) {
	for _, p := range reply.Policies {
		i := s.byID[p.PolicyID]
		s.look(i, policy.Condition, p.Condition)
		s.look(i, policy.Consensus, p.Consensus)
		s.look(i, policy.Time, p.Time)
	}
}

func (s *coverageRecorder) look(policy int, place policy.Place, steps []engine.ExplainedStep) {
	for _, top := range tree(steps) {
		s.clause(policy, place, top)
	}
}

// clause goes down to what is joined.
func (s *coverageRecorder) clause(policy int, place policy.Place, n *node) {
	if bare := strings.Trim(n.Source, "() \t\r\n"); bare == "true" || bare == "false" {
		return // it can be nothing else
	}
	if n.chain() {
		for _, c := range n.children {
			s.clause(policy, place, c)
		}
		return
	}
	s.see(policy, place, n)
	n.every(func(inner *node) {
		for _, c := range inner.children {
			if c.Bound != inner.Bound {
				s.see(policy, place, c)
			}
		}
	})
}

func (s *coverageRecorder) see(i int, place policy.Place, n *node) {
	at := clausePlace{i, place, int(n.Offset), len(n.Source)}
	c := s.clauses[at]
	if c == nil {
		p := &s.file.Policies[i]
		e := p.expressions[place]
		c = &Clause{Policy: p.Name, Place: place.String(), Source: e.given[e.back(at.offset, false):e.back(at.offset+at.size, true)]}
		s.clauses[at] = c
	}
	c.True = c.True || n.Value == "true"
	c.False = c.False || n.Value == "false"
	c.Failed = c.Failed || n.Error != ""
}

// coverage lists the clauses in the order of the file.
func (s *coverageRecorder) coverage() Coverage {
	places := make([]clausePlace, 0, len(s.clauses))
	for at := range s.clauses {
		places = append(places, at)
	}
	slices.SortFunc(places, func(a, b clausePlace) int {
		return cmp.Or(cmp.Compare(a.policy, b.policy), cmp.Compare(a.place, b.place), cmp.Compare(a.offset, b.offset), cmp.Compare(b.size, a.size))
	})
	all := make(Coverage, len(places))
	for i, at := range places {
		all[i] = *s.clauses[at]
	}
	return all
}
