package deploy

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"latchkey/internal/domain"
	"latchkey/internal/policy/policytest"
)

func fileOf(t testing.TB, text string) *policytest.File {
	t.Helper()
	f, err := policytest.Parse("f.yaml", []byte(text), func(string) ([]byte, error) { return nil, fmt.Errorf("none") })
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func stored(id, name string, effect domain.Effect, condition string) Policy {
	return Policy{ID: id, BoundPolicy: policytest.BoundPolicy{Name: name, Effect: effect, Condition: condition}}
}

// What denies comes first and goes last, and changes come before what allows more.
func TestOrder(t *testing.T) {
	have := []Policy{
		stored("1", "old deny", domain.EffectDeny, "activity.action == 'SIGN'"),
		stored("2", "old allow", domain.EffectAllow, "activity.action == 'SIGN'"),
		stored("3", "changed allow", domain.EffectAllow, "activity.action == 'SIGN'"),
		stored("4", "changed deny", domain.EffectDeny, "activity.action == 'SIGN'"),
		stored("5", "same", domain.EffectDeny, "activity.action == 'SIGN'\n"),
	}
	count := func(identifier string) Control {
		var c Control
		c.Name, c.Identifier = "C", identifier
		c.DataSource.ActivityExecution = new(domain.VelocityExecutions)
		c.Aggregation = domain.VelocityAggregation{
			Method: domain.VelocityCount, Operator: domain.VelocityLess, Threshold: "3",
			Window: domain.VelocityWindow{Infinite: new(domain.Nothing)}, GroupBy: domain.VelocityGroupBy{User: new(domain.Nothing)},
		}
		return c
	}
	controls := []Control{count("kept"), count("old")}
	const counts = "dataSource: {activityExecution: {}}, aggregation: {method: VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT, " +
		"operator: VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN, threshold: '3', window: {infinite: {}}, groupBy: {user: {}}}}\n"
	file := fileOf(t, "velocityControls:\n- {name: C, identifier: kept, "+counts+"- {name: C, identifier: fresh, "+counts+`
policies:
- {policyName: new allow, effect: EFFECT_ALLOW, condition: "activity.action == 'CREATE'"}
- {policyName: changed allow, effect: EFFECT_ALLOW, condition: "activity.action == 'CREATE'"}
- {policyName: new deny, effect: EFFECT_DENY, condition: "activity.action == 'CREATE'"}
- {policyName: changed deny, effect: EFFECT_DENY, condition: "activity.action == 'CREATE'", notes: n}
- {policyName: same, effect: EFFECT_DENY, condition: "activity.action == 'SIGN'"}
`)
	for _, prune := range []bool{false, true} {
		plan, err := Compare(&Organization{Policies: have, Controls: controls}, []*policytest.File{file}, prune)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			`create velocity control fresh ("C")`, `create DENY policy "new deny"`, `change DENY policy "changed deny"`, `change ALLOW policy "changed allow"`, `create ALLOW policy "new allow"`,
			`delete ALLOW policy "old allow"`, `delete DENY policy "old deny"`, `delete velocity control old ("C")`,
		}
		extra := 0
		if !prune {
			want, extra = want[:5], 3
		}
		var got []string
		for i := range plan.Steps {
			got = append(got, plan.Steps[i].String())
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(plan.Extra) != extra || plan.Same != 2 || !plan.Different() {
			t.Errorf("prune %v: %d extra, %d the same, steps\n%s", prune, len(plan.Extra), plan.Same, strings.Join(got, "\n"))
		}
	}
}

// A control that is in the organization cannot become another one.
func TestControlChanges(t *testing.T) {
	var had Control
	had.Name, had.Identifier = "C", "daily"
	had.DataSource.ActivityExecution = new(domain.VelocityExecutions)
	had.Aggregation = domain.VelocityAggregation{
		Method: domain.VelocityCount, Operator: domain.VelocityLess, Threshold: "3",
		Window: domain.VelocityWindow{Rolling: &domain.VelocityRolling{Duration: "86400"}}, GroupBy: domain.VelocityGroupBy{User: new(domain.Nothing)},
	}
	org := &Organization{Name: "O", Controls: []Control{had}, Policies: []Policy{stored("1", "limit", domain.EffectAllow, "controls.daily")}}
	text, err := org.File()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if plan, err := Compare(org, []*policytest.File{fileOf(t, string(text))}, false); err != nil || plan.Different() {
		t.Errorf("what was pulled: %v, %v\n%s", plan, err, text)
	}
	changed := strings.Replace(string(text), `threshold: "3"`, `threshold: "4"`, 1)
	_, err = Compare(org, []*policytest.File{fileOf(t, changed)}, false)
	if err == nil || !strings.Contains(err.Error(), "velocity control daily: the organization has another one of this identifier, and a control cannot be changed") {
		t.Errorf("a changed control: %v\n%s", err, changed)
	}
}

// Whatever the names and texts of an organization, what is pulled from it is a file
// that means the same, and names stand in the place of the ids that have one.
func TestPull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"ada", "Ada L.", "a}b", "${user.ada}", "true", "12", "é 'x' \"y\"", "- a: b", "#c", "no"})
		org := &Organization{ID: "o", Name: word.Draw(t, "organization")}
		var ids []string
		record := func(what string) Record {
			id := fmt.Sprintf("0192f3c4-5b6a-7c8d-9e0f-%012x", len(ids))
			ids = append(ids, id)
			return Record{word.Draw(t, what), id}
		}
		for range rapid.IntRange(0, 4).Draw(t, "users") {
			org.Users = append(org.Users, User{Record: record("user")})
		}
		for range rapid.IntRange(0, 3).Draw(t, "tags") {
			org.Tags = append(org.Tags, record("tag"))
		}
		for i := range org.Users {
			for _, tag := range org.Tags {
				if rapid.Bool().Draw(t, "tagged") {
					org.Users[i].TagIDs = append(org.Users[i].TagIDs, tag.ID)
				}
			}
		}
		ids = append(ids, "0192f3c4-5b6a-7c8d-9e0f-ffffffffffff", "${user.ada}", "$${")
		for i := range rapid.IntRange(0, 3).Draw(t, "policies") {
			p := stored(fmt.Sprint(i), fmt.Sprint(i)+word.Draw(t, "policy"), domain.EffectDeny, "")
			p.Condition = "wallet.id == '" + rapid.SampledFrom(ids).Draw(t, "id") + "'" + rapid.SampledFrom([]string{"", "\n", " ", "\n\n  && true", "\t&& true\n"}).Draw(t, "end")
			p.Consensus = rapid.SampledFrom([]string{"", "approvers.any(u, u.tags.contains('" + rapid.SampledFrom(ids).Draw(t, "id") + "'))"}).Draw(t, "consensus")
			p.Notes = rapid.SampledFrom([]string{"", "a\nb", " leading", "${not.a.name}", "x: y # z"}).Draw(t, "notes")
			org.Policies = append(org.Policies, p)
		}
		text, err := org.File()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, u := range org.Users {
			if u.Name == "Ada L." && strings.Count(fmt.Sprint(org.Users), "Ada L.") == 1 && strings.Contains(string(text), u.ID) {
				t.Fatalf("an id is left:\n%s", text)
			}
		}
	})
}
