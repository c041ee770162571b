package domain

import (
	"testing"
	"time"
)

func step(types ...AuthenticationType) MFAStep {
	var s MFAStep
	for _, t := range types {
		s.Any = append(s.Any, AuthenticationMethod{Type: t})
	}
	return s
}

// TestMFAMet: each factor counts for one step, and all within 15 minutes.
func TestMFAMet(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	given := func(kind AuthenticationType, credential string, minutes int) Factor {
		return Factor{AuthenticationMethod{kind, credential}, credential, start.Add(time.Duration(minutes) * time.Minute)}
	}
	two := []MFAStep{step(AuthAPIKey), step(AuthPasskey)}
	for _, c := range []struct {
		name  string
		steps []MFAStep
		given []Factor
		met   bool
	}{
		{"nothing", two, nil, false},
		{"one of two", two, []Factor{given(AuthAPIKey, "k", 0)}, false},
		{"both", two, []Factor{given(AuthAPIKey, "k", 0), given(AuthPasskey, "p", 14)}, true},
		{"in another order", two, []Factor{given(AuthPasskey, "p", 0), given(AuthAPIKey, "k", 1)}, true},
		{"too far apart", two, []Factor{given(AuthAPIKey, "k", 0), given(AuthPasskey, "p", 15)}, false},
		{"given again", two, []Factor{given(AuthAPIKey, "k", 0), given(AuthPasskey, "p", 15), given(AuthAPIKey, "k", 16)}, true},
		{"complete once stays complete", two, []Factor{given(AuthAPIKey, "k", 0), given(AuthPasskey, "p", 1), given(AuthAPIKey, "k", 60)}, true},
		{"one key is one factor", []MFAStep{step(AuthAPIKey), step(AuthAPIKey, AuthPasskey)}, []Factor{given(AuthAPIKey, "k", 0), given(AuthAPIKey, "k", 1)}, false},
		{"two keys are two", []MFAStep{step(AuthAPIKey), step(AuthAPIKey, AuthPasskey)}, []Factor{given(AuthAPIKey, "k", 0), given(AuthAPIKey, "l", 1)}, true},
		{"the one that leaves the other", []MFAStep{step(AuthAPIKey, AuthPasskey), step(AuthAPIKey)}, []Factor{given(AuthAPIKey, "a", 0), given(AuthPasskey, "z", 1)}, true},
		{"another credential", []MFAStep{{Any: []AuthenticationMethod{{AuthPasskey, "p"}}}}, []Factor{given(AuthPasskey, "q", 0)}, false},
		{"that credential", []MFAStep{{Any: []AuthenticationMethod{{AuthPasskey, "p"}}}}, []Factor{given(AuthPasskey, "p", 0)}, true},
	} {
		if _, met := (&MFAPolicy{Steps: c.steps}).Met(c.given); met != c.met {
			t.Errorf("%s: %v, want %v", c.name, met, c.met)
		}
	}
}

// TestWeakenedMFA: what is changed, removed or put behind another is weakened.
func TestWeakenedMFA(t *testing.T) {
	a := MFAPolicy{ID: "a", Condition: "true", Order: 1, Steps: []MFAStep{step(AuthPasskey)}}
	b := MFAPolicy{ID: "b", Condition: "true", Order: 2, Steps: []MFAStep{step(AuthPasskey)}}
	with := func(p MFAPolicy, change func(*MFAPolicy)) MFAPolicy { change(&p); return p }
	for _, c := range []struct {
		name  string
		after []MFAPolicy
		want  string
	}{
		{"nothing", []MFAPolicy{a, b}, ""},
		{"its name", []MFAPolicy{with(a, func(p *MFAPolicy) { p.Name = "new" }), b}, ""},
		{"deleted", []MFAPolicy{b}, "a"},
		{"deleted last", []MFAPolicy{a}, "b"},
		{"one before", []MFAPolicy{{ID: "c", Order: 0}, a, b}, "ab"},
		{"one between", []MFAPolicy{a, {ID: "c", Order: 2, Condition: "x"}, b}, ""},
		{"a tie that comes first", []MFAPolicy{a, {ID: "a0", Order: 2}, b}, "b"},
		{"one behind", []MFAPolicy{a, b, {ID: "c", Order: 9}}, ""},
		{"other steps", []MFAPolicy{with(a, func(p *MFAPolicy) { p.Steps = []MFAStep{step(AuthAPIKey)} }), b}, "ab"},
		{"wider condition in the last", []MFAPolicy{a, with(b, func(p *MFAPolicy) { p.Condition = "false" })}, "b"},
	} {
		got := ""
		for _, p := range WeakenedMFA([]MFAPolicy{a, b}, c.after) {
			got += p.ID
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
