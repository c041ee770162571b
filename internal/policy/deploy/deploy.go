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

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/policy/policytest"
	"latchkey/internal/request/ops"
)

// Policy is a policy that an organization has or is to have.
type Policy struct {
	ID string // empty: it does not exist yet
	policytest.BoundPolicy
}

// Control is a velocity control that an organization has or is to have.
type Control struct {
	ID string // empty: it does not exist yet
	ops.CreateVelocityControlParams
}

// text is what the control means, in one form.
func (c *Control) text() (string, error) {
	text, err := json.Marshal(c.CreateVelocityControlParams, json.Deterministic(true))
	return string(text), err
}

// Action is what is done with a policy or a control.
type Action uint8

// The actions.
const (
	Create Action = iota
	Update
	Delete
)

func (a Action) String() string { return [...]string{"create", "change", "delete"}[a] }

// Step is one change of one policy, or of one velocity control.
type Step struct {
	Action  Action
	Control *Control // nil: it is about a policy
	Had     *Policy  // nil: it is created
	Wanted  *Policy  // nil: it is deleted
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

// Changes lists what is different in a policy.
func (s *Step) Changes() (all []Change) {
	if s.Control != nil {
		return nil
	}
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
	Extra []Step                // what would delete what no file has, and is not done
	Same  int                   // how many policies and controls are as the files say
}

// Different reports whether the organization is not what the files say.
func (p *Plan) Different() bool { return len(p.Steps) > 0 || len(p.Extra) > 0 }

// Compare makes the plan. With prune, what no file has is deleted. A name of a
// file that means none or several records is a [*policytest.Error].
func Compare(have *Organization, files []*policytest.File, prune bool) (*Plan, error) {
	plan, d := new(Plan), have.Directory()
	from := map[string]string{} // file by policy
	byName := map[string]*Policy{}
	for i := range have.Policies {
		byName[have.Policies[i].Name] = &have.Policies[i]
	}
	extra, err := plan.wantControls(have.Controls, files)
	if err != nil {
		return nil, err
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
	for i := range have.Policies {
		if _, known := from[have.Policies[i].Name]; !known {
			extra = append(extra, Step{Action: Delete, Had: &have.Policies[i]})
		}
	}
	if prune {
		plan.Steps = append(plan.Steps, extra...)
	} else {
		plan.Extra = extra
	}
	slices.SortStableFunc(plan.Steps, func(a, b Step) int { return cmp.Compare(a.turn(), b.turn()) })
	return plan, nil
}

// wantControls plans the velocity controls, and returns what would delete those that
// no file has. A control never changes: what it has counted would mean another
// thing.
func (p *Plan) wantControls(have []Control, files []*policytest.File) (extra []Step, err error) {
	from := map[string]string{} // file by identifier
	for _, f := range files {
		for _, given := range f.Controls {
			if other, twice := from[given.Identifier]; twice {
				return nil, fmt.Errorf("%s and %s both have a velocity control %s; each identifier can be used once", other, f.Path, given.Identifier)
			}
			from[given.Identifier] = f.Path
			wanted := &Control{CreateVelocityControlParams: given}
			i := slices.IndexFunc(have, func(c Control) bool { return c.Identifier == given.Identifier })
			if i < 0 {
				p.Steps = append(p.Steps, Step{Action: Create, Control: wanted})
				continue
			}
			had, err := have[i].text()
			if err != nil {
				return nil, err
			}
			if text, err := wanted.text(); err != nil || text != had {
				return nil, fmt.Errorf("%s: velocity control %s: the organization has another one of this identifier, and a control cannot be changed; "+
					"give the new one an identifier of its own, and let the policies read that", f.Path, given.Identifier)
			}
			p.Same++
		}
	}
	for i := range have {
		if _, known := from[have[i].Identifier]; !known {
			extra = append(extra, Step{Action: Delete, Control: &have[i]})
		}
	}
	return extra, nil
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

// turn is when a step comes: new controls, new policies that deny, changes, new ones
// that allow, deletions, those of controls last. Among changes what denies afterwards comes first, and among
// deletions what denied goes last.
func (s *Step) turn() int {
	if s.Control != nil {
		return map[Action]int{Create: -1, Delete: 6}[s.Action]
	}
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
