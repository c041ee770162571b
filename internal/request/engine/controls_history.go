package engine

import (
	"strconv"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/schema"
	"latchkey/internal/store"
	"latchkey/internal/velocity"
)

// CountedPoint is what a control had in a group at one time.
type CountedPoint struct {
	AtMs string `json:"atMs" check:"required" doc:"The time, in milliseconds since the Unix epoch."`
	Used string `json:"used" check:"required" doc:"What was in the window then, as a decimal number."`
}

// Check refuses a history of more than one group, which would be read from as many
// books.
func (q *ControlsRequest) Check(problems *schema.Problems) {
	if q.GroupID != "" && q.Identifier == "" {
		problems.Add("groupId", "is a group of one control; name that by identifier")
	}
	if q.GroupID == domain.UnreadableGroup {
		problems.Add("groupId", "must be the organization, a user, a wallet or a private key")
	}
	if q.Points > 0 && q.GroupID == "" {
		problems.Add("points", "are of one group; name that by identifier and groupId")
	}
	if _, err := strconv.ParseUint(q.SinceMs, 10, 48); (q.Points > 0 || q.SinceMs != "") && err != nil {
		problems.Add("sinceMs", "must be a time in milliseconds since the Unix epoch, as a string of digits, where points are asked for")
	}
}

// groupsOf reads the groups of a control, or the one that is asked about.
func groupsOf(tx *store.Tx, c *velocity.Control, asked *ControlsRequest, after string, limit int) ([]*domain.Tally, error) {
	if asked.GroupID == "" {
		return tx.TallyGroups(c.ID, after, limit)
	}
	book, err := tx.ReadTally(store.TallyGroup{ControlID: c.ID, GroupID: asked.GroupID})
	if err != nil || book.Newest() == nil {
		return nil, err
	}
	return []*domain.Tally{book.Newest()}, nil
}

// history is what a control had in a group at the times that are asked for.
func history(c *velocity.Control, book velocity.Book, asked *ControlsRequest, now time.Time) ([]CountedPoint, error) {
	if asked.Points == 0 {
		return nil, nil
	}
	since, err := strconv.ParseInt(asked.SinceMs, 10, 64)
	if err != nil {
		return nil, err
	}
	points, err := c.History(book, time.UnixMilli(since), now, int(asked.Points))
	if err != nil {
		return nil, err
	}
	shown := make([]CountedPoint, len(points))
	for i, p := range points {
		shown[i] = CountedPoint{AtMs: strconv.FormatInt(p.AtMs, 10), Used: c.Text(p.Used)}
	}
	return shown, nil
}
