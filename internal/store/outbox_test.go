package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"latchkey/internal/domain"
	"latchkey/internal/store"
)

// TestOutbox posts messages with a change, or not at all, and lets many
// senders take them.
func TestOutbox(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		refusal := errors.New("refused")
		post := func(id string, result error) {
			err := s.Update(t.Context(), org, func(tx *store.Tx) error {
				if err := tx.Post(&domain.Message{ID: id, OrganizationID: org, Sealed: []byte("sealed")}); err != nil {
					return err
				}
				return result
			})
			if !errors.Is(err, result) {
				t.Fatal(err)
			}
		}
		post("lost", refusal)
		for i := range 20 {
			post(fmt.Sprintf("m%02d", i), nil)
		}
		var mu sync.Mutex
		taken := map[string]int{}
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				for {
					var id string
					err := s.Outbox(t.Context(), func(tx *store.Tx) error {
						messages := tx.Messages()
						id = ""
						waiting, err := messages.List("", 1)
						if err != nil || len(waiting) == 0 {
							return err
						}
						id = waiting[0].ID
						return messages.Delete(id)
					})
					if err != nil {
						t.Error(err)
						return
					}
					if id == "" {
						return
					}
					mu.Lock()
					taken[id]++
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		if len(taken) != 20 || taken["lost"] != 0 {
			t.Errorf("taken: %v", taken)
		}
		for id, n := range taken {
			if n != 1 {
				t.Errorf("%s was taken %d times", id, n)
			}
		}
	})
}
