package outbox

import (
	"testing"
	"time"

	"latchkey/internal/domain"
)

// Messages that no server could send do not stay for ever.
func TestDeleteExpired(t *testing.T) {
	q := newQueue(t)
	now := q.now()
	old := now.Add(-2 * time.Hour)
	for _, tt := range []struct {
		name string
		edit func(*domain.Message)
		gone bool
	}{
		{"valid", nil, false},
		{"without an end", func(m *domain.Message) { m.CreatedAt, m.ExpiresAt = old, time.Time{} }, false},
		{"expired", func(m *domain.Message) { m.ExpiresAt = now.Add(-time.Minute) }, false},
		{"expired long ago", func(m *domain.Message) { m.ExpiresAt = old }, true},
		{"being sent", func(m *domain.Message) { m.ExpiresAt, m.LeasedUntil = old, now.Add(time.Minute) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := q.put(tt.edit)
			dropped, err := DeleteExpired(t.Context(), q.store, now, time.Hour)
			if err != nil || (dropped == 1) != tt.gone || (q.lookup(id) == nil) != tt.gone {
				t.Errorf("%d were dropped, %v; the message is %v", dropped, err, q.lookup(id))
			}
		})
	}
}
