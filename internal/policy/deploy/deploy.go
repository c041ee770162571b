// Package deploy compares files of policies with what an organization has, and
// says what brings it there: `latchkey policy diff`, `apply` and `pull`.
//
// A policy is known by its name. The package sends nothing and reads nothing: it
// is given what the organization has, and returns steps in the order in which
// they are safe. On the way no request is allowed that neither the policies of
// before nor those of after allow: what denies comes first and goes last.
package deploy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/policy/policytest"
)

// Policy is a policy that an organization has or is to have.
type Policy struct {
	ID string // empty: it does not exist yet
	policytest.BoundPolicy
}

// Action is what is done with a policy.
type Action uint8

// The actions.
const (
	Create Action = iota
	Update
	Delete
)

func (a Action) String() string { return [...]string{"create", "change", "delete"}[a] }

// Step is one change of one policy.
type Step struct {
	Action Action
	Had    *Policy // nil: it is created
	Wanted *Policy // nil: it is deleted
}

// Policy is what the step is about.
func (s *Step) Policy() *Policy {
	if s.Wanted != nil {
		return s.Wanted
	}
	return s.Had
}

// Change is one member of a policy that is another one afterwards.
type Change struct{ Member, From, To string }

// Changes lists what is different.
func (s *Step) Changes() (all []Change) {
	var had, wanted Policy
	if s.Had != nil {
		had = *s.Had
	}
	if s.Wanted != nil {
		wanted = *s.Wanted
	}
	for _, c := range []Change{
		{"effect", string(had.Effect), string(wanted.Effect)},
		{"consensus", had.Consensus, wanted.Consensus},
		{"condition", had.Condition, wanted.Condition},
		{"time", had.Time, wanted.Time},
		{"notes", had.Notes, wanted.Notes},
	} {
		if strings.TrimSpace(c.From) != strings.TrimSpace(c.To) { // at its ends, white space means nothing
			all = append(all, c)
		}
	}
	return all
}

// Plan is how an organization is brought to what files say.
type Plan struct {
	Names []policytest.Resolved // what placeholders stand for
	Steps []Step                // in the order in which they are done
	Extra []Policy              // that no file has, and that stay
	Same  int                   // how many policies are as the files say
}

// Different reports whether the organization is not what the files say.
func (p *Plan) Different() bool { return len(p.Steps) > 0 || len(p.Extra) > 0 }

// Compare makes the plan. With prune, what no file has is deleted. A name of a
// file that means none or several records is a [*policytest.Error].
func Compare(have []Policy, files []*policytest.File, d *policytest.Directory, prune bool) (*Plan, error) {
	plan := new(Plan)
	from := map[string]string{} // file by policy
	byName := map[string]*Policy{}
	for i := range have {
		byName[have[i].Name] = &have[i]
	}
	for _, f := range files {
		policies, names, err := f.Bind(d)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if !slices.Contains(plan.Names, name) {
				plan.Names = append(plan.Names, name)
			}
		}
		for _, p := range policies {
			if other, twice := from[p.Name]; twice {
				return nil, fmt.Errorf("%s and %s both have a policy %q; a policy is known by its name, so each name can be used once", other, f.Path, p.Name)
			}
			from[p.Name] = f.Path
			plan.want(byName[p.Name], &Policy{BoundPolicy: p})
		}
	}
	for i := range have {
		switch _, known := from[have[i].Name]; {
		case known:
		case prune:
			plan.Steps = append(plan.Steps, Step{Action: Delete, Had: &have[i]})
		default:
			plan.Extra = append(plan.Extra, have[i])
		}
	}
	slices.SortStableFunc(plan.Steps, func(a, b Step) int { return cmp.Compare(a.turn(), b.turn()) })
	return plan, nil
}

func (p *Plan) want(had, wanted *Policy) {
	if had == nil {
		p.Steps = append(p.Steps, Step{Action: Create, Wanted: wanted})
		return
	}
	wanted.ID = had.ID
	step := Step{Action: Update, Had: had, Wanted: wanted}
	if len(step.Changes()) == 0 {
		p.Same++
		return
	}
	p.Steps = append(p.Steps, step)
}

// turn is when a step comes: new policies that deny, changes, new ones that allow,
// deletions. Among changes what denies afterwards comes first, and among
// deletions what denied goes last.
func (s *Step) turn() int {
	denies := s.Policy().Effect == domain.EffectDeny
	switch {
	case s.Action == Create && denies:
		return 0
	case s.Action == Update && denies:
		return 1
	case s.Action == Update:
		return 2
	case s.Action == Create:
		return 3
	case !denies:
		return 4
	}
	return 5
}
