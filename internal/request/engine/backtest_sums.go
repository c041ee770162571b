package engine

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"io"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/policy/fact"
	"latchkey/internal/request/decide"
	"latchkey/internal/velocity"
)

// The sums of velocity controls follow from what the policies allow, from the
// first activity on. So that pages need nothing that a server keeps, the cursor of
// a page carries the sums to the next one, on whichever server.

// backtestSide is one of the two sets of policies that are compared, and what its
// controls would have counted.
type backtestSide struct {
	rules    *decide.Rules
	controls []*velocity.Control // that its policies read
	sums     *velocity.Simulation
}

func newSide(rules *decide.Rules, controls []*velocity.Control, sums *velocity.Simulation) *backtestSide {
	s := &backtestSide{rules: rules, controls: []*velocity.Control{}, sums: sums}
	for _, c := range controls {
		if slices.Contains(rules.Controls(), c.Identifier) {
			s.controls = append(s.controls, c)
		}
	}
	return s
}

// meter measures an activity by the controls of the side.
func (s *backtestSide) meter(t *attempt, a *domain.Activity, facts func() (*fact.Request, error), now time.Time) *decide.ControlMeter {
	return &decide.ControlMeter{
		Tx: t.tx, Facts: facts, UserID: a.Submitter().UserID, Now: now, Supposed: true, Controls: s.controls,
		Used: func(c *velocity.Control, group string) *big.Int { return s.sums.Used(c, group, now) },
	}
}

// countIf adds an activity to the sums, if the side allows it.
func (s *backtestSide) countIf(allowed bool, m *decide.ControlMeter) error {
	if !allowed {
		return nil
	}
	amounts, err := m.Amounts()
	for _, a := range amounts {
		s.sums.Add(a.Control, a.Group, m.Now, a.Amount)
	}
	return err
}

// supposedControls are the controls of the organization with others beside them,
// or in the place of those with the same identifier.
func (t *attempt) supposedControls(given []SupposedControl) ([]*velocity.Control, error) {
	own, err := decide.ControlsOf(t.tx)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(own)
	for i := range given {
		g := &given[i]
		compiled, err := velocity.Compile(&domain.VelocityControl{
			ID: ids.New(), Name: g.Name, Identifier: g.Identifier, DataSource: g.DataSource, Aggregate: g.Aggregation,
		})
		if err != nil { // its form was checked
			return nil, fault.Invalid("velocityControls.%d: %v", i, err)
		}
		all = slices.DeleteFunc(all, func(c *velocity.Control) bool { return c.Identifier == g.Identifier })
		all = append(all, compiled)
	}
	return all, nil
}

// backtestState is where a page begins.
type backtestState struct {
	position string // the activity that was read last
	// late are activities that were read and are decided on later, when they
	// had their last approval; the earliest first.
	late          []lateActivity
	before, after *velocity.Simulation
}

type lateActivity struct {
	ID   string `json:"id"`
	AtMs int64  `json:"at"`
}

const (
	maxCursor   = 1 << 20  // as long as a cursor may be
	maxSums     = 16 << 20 // the same, unpacked
	cursorStops = "."      // what divides the position from the rest
)

// cursor writes the state as text: the position alone, if nothing was counted.
func (s *backtestState) cursor() (string, error) {
	late, err := json.Marshal(s.late)
	if err != nil {
		return "", err
	}
	sums := s.after.Append(s.before.Append(nil))
	if len(s.late) == 0 && bytes.Equal(sums, []byte{0, 0}) {
		return s.position, nil
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		return "", err
	}
	for _, part := range [][]byte{sums, late} {
		if _, err := w.Write(part); err != nil {
			return "", err
		}
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	text := s.position + cursorStops + base64.RawURLEncoding.EncodeToString(packed.Bytes())
	if len(text) > maxCursor {
		return "", fault.Invalid("the windows of the velocity controls hold too many amounts for a back-test; suppose shorter ones, or a later sinceMs")
	}
	return text, nil
}

// readCursor reads what a page gave as its end; empty begins.
func readCursor(text string) (*backtestState, error) {
	s := &backtestState{before: new(velocity.Simulation), after: new(velocity.Simulation)}
	if text == "" {
		return s, nil
	}
	wrong := fault.Fields("", []fault.Field{{Path: "paginationOptions.after", Description: "must be endCursor of the page before"}})
	position, packed, more := strings.Cut(text, cursorStops)
	var ok bool
	if s.position, ok = ids.Normal(position); !ok {
		return nil, wrong
	}
	if !more {
		return s, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(packed)
	if err != nil {
		return nil, wrong
	}
	sums, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(raw)), maxSums))
	if err != nil {
		return nil, wrong
	}
	if s.before, sums, err = velocity.ReadSimulation(sums); err != nil {
		return nil, wrong
	}
	if s.after, sums, err = velocity.ReadSimulation(sums); err != nil {
		return nil, wrong
	}
	if err := json.Unmarshal(sums, &s.late); err != nil {
		return nil, wrong
	}
	return s, nil
}

// postpone keeps an activity until the time of its last approval is reached.
func (s *backtestState) postpone(id string, at time.Time) {
	l := lateActivity{id, at.UnixMilli()}
	i, _ := slices.BinarySearchFunc(s.late, l, func(a, b lateActivity) int {
		if a.AtMs > b.AtMs {
			return 1
		}
		return -1 // the first read of a time is the first
	})
	s.late = slices.Insert(s.late, i, l)
}

// due is the next of the postponed whose time has come; all have when none is
// left to read.
func (s *backtestState) due(now time.Time, all bool) (string, bool) {
	if len(s.late) == 0 || !all && s.late[0].AtMs > now.UnixMilli() {
		return "", false
	}
	return s.late[0].ID, true
}
