package activity

import (
	"testing"

	"latchkey/internal/domain"
)

// TestUnknownType renders an activity that a newer node recorded.
func TestUnknownType(t *testing.T) {
	noUser := func(string) (*domain.User, error) { return nil, nil }
	for activityType, want := range map[string]string{
		"ACTIVITY_TYPE_MOVE_MOUNTAINS":    `{"moveMountainsIntent":{}}`,
		"ACTIVITY_TYPE_MOVE_MOUNTAINS_V3": `{"moveMountainsIntentV3":{}}`,
		"ACTIVITY_TYPE_":                  `{"Intent":{}}`,
		"ODD__TYPE_Vx":                    `{"oddTypeVxIntent":{}}`,
	} {
		view, err := NewCatalog(nil, nil).Render(&domain.Activity{
			Type: activityType, Status: domain.StatusCompleted, Intent: []byte("{}"), Result: []byte("{}"),
			Votes: []domain.Vote{{UserID: "gone", UserName: "Ada"}},
		}, noUser)
		if err != nil || string(view.Intent) != want || !view.Result.IsValid() {
			t.Errorf("%s: intent %s, result %s, %v", activityType, view.Intent, view.Result, err)
		}
		if view.Votes[0].User.UserName != "Ada" {
			t.Errorf("the vote of a user who is gone: %v", view.Votes[0].User)
		}
	}
}
