package policytest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"latchkey/internal/policy"
	"latchkey/internal/request/engine"
)

// Coverage is which clauses the cases evaluated to true, and which to false.
type Coverage []Clause

// Clause is what && and || join, or the body of a quantifier.
type Clause struct {
	Policy, Place string
	Source        string // as the file has it
	True, False   bool   // whether a case evaluated it to that
	Failed        bool   // a case evaluated it without a value
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
			s.addSteps(i, place, steps)
		}
	}
	return s
}

// add records the steps that a case evaluated.
func (s *coverageRecorder) add(reply *engine.ExplainReply) {
	for _, p := range reply.Policies {
		i := s.byID[p.PolicyID]
		s.addSteps(i, policy.Condition, p.Condition)
		s.addSteps(i, policy.Consensus, p.Consensus)
		s.addSteps(i, policy.Time, p.Time)
	}
}

func (s *coverageRecorder) addSteps(policy int, place policy.Place, steps []engine.ExplainedStep) {
	for _, top := range stepTree(steps) {
		s.addClauses(policy, place, top)
	}
}

// addClauses records the operands of && and ||, or n itself.
func (s *coverageRecorder) addClauses(policy int, place policy.Place, n *stepNode) {
	if bare := strings.Trim(n.Source, "() \t\r\n"); bare == "true" || bare == "false" {
		return // a constant
	}
	if n.isChain() {
		for _, c := range n.children {
			s.addClauses(policy, place, c)
		}
		return
	}
	s.addClause(policy, place, n)
	n.visit(func(inner *stepNode) {
		for _, c := range inner.children {
			if c.Bound != inner.Bound {
				s.addClause(policy, place, c)
			}
		}
	})
}

func (s *coverageRecorder) addClause(i int, place policy.Place, n *stepNode) {
	at := clausePlace{i, place, int(n.Offset), len(n.Source)}
	c := s.clauses[at]
	if c == nil {
		p := &s.file.Policies[i]
		e := p.expressions[place]
		c = &Clause{Policy: p.Name, Place: place.String(), Source: e.given[e.givenOffset(at.offset, false):e.givenOffset(at.offset+at.size, true)]}
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
