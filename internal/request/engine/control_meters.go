package engine

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/policy/fact"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
)

// controlMeters measure an activity that is decided on by the velocity controls:
// those of the organization in which it happens count it, and those of the deciding
// one can be read by its policies. Mostly they are the same.
type controlMeters struct {
	input    *decide.Input
	counting *decide.ControlMeter // of the organization that is acted in
	reading  *decide.ControlMeter // of the one that decides
}

// meterControls makes the meters of a decision that counts, and lets the input read
// them.
func (t *attempt) meterControls(a *domain.Activity, input *decide.Input) *controlMeters {
	m := &controlMeters{input: input, counting: &decide.ControlMeter{Tx: t.tx, Facts: input.Facts, UserID: a.Submitter().UserID}}
	m.reading = m.counting
	if t.home != t.tx {
		m.reading = t.askingMeter(a, input.Facts, time.Time{})
	}
	input.Controls = m.reading.Measure
	return m
}

// askingMeter measures what is only asked, at a time to suppose if it is not zero.
func (t *attempt) askingMeter(a *domain.Activity, facts func() (*fact.Request, error), now time.Time) *decide.ControlMeter {
	return &decide.ControlMeter{
		Tx: t.home, Facts: facts, UserID: a.Submitter().UserID, Now: now,
		Supposed: true, Elsewhere: t.home != t.tx, Used: t.supposedUse,
	}
}

// Recorded is what was measured, for the record.
func (m *controlMeters) Recorded() []domain.ControlEvaluation {
	return m.reading.Recorded(m.input.ReadsControls())
}

// Release ends the turns of an activity that is not executed now.
func (m *controlMeters) Release() {
	if m.counting != nil {
		m.counting.Release()
	}
}

// countAndExecute runs the operation that the ruling allows. What it counts is
// settled before, so that others can be decided on while it signs.
func (t *attempt) countAndExecute(a *domain.Activity, intent *activity.Intent, ruling *decide.Ruling, m *controlMeters, now time.Time) (jsontext.Value, error) {
	counted, err := m.counting.Count(a.ID, m.input.ReadsControls())
	if err != nil {
		return nil, err
	}
	a.Votes[len(a.Votes)-1].Controls = counted
	return t.execute(a, intent, ruling, now)
}
