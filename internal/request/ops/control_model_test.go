package ops_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"latchkey/client"
	"latchkey/internal/server/config"
	. "latchkey/internal/test/servertest"
)

// TestControlModel sends payments of random amounts at once, on PostgreSQL to two
// servers, and looks for an order of them in which a limit of 100 that is checked one
// after the other gives the same answers: no payment passes that had no room, and
// none is refused that had.
func TestControlModel(t *testing.T) {
	const limit, rounds, payments = 100, 12, 24
	model := porcupine.Model{
		Init: func() any { return 0 },
		Step: func(used, amount, passed any) (bool, any) {
			after := used.(int) + amount.(int)
			if after > limit {
				return !passed.(bool), used
			}
			return passed.(bool), after
		},
	}
	EachStore(t, func(t *testing.T, url string) {
		nodes := []*Server{Start(t, url, config.Default())}
		if strings.HasPrefix(url, "postgres") {
			nodes = append(nodes, Start(t, url, config.Default()))
		}
		l := newLimited(t, nodes[0], "controls.model", control("model", fmt.Sprint(limit),
			aggregating("window", m{"infinite": m{}}), aggregating("groupBy", m{"user": m{}})))
		for round := range rounds {
			agent := nodes[0].NewUser(t, l.root, fmt.Sprint("Agent of round ", round), client.P256)
			var mu sync.Mutex
			var history []porcupine.Operation
			var wait sync.WaitGroup
			start := time.Now()
			for i := range payments {
				amount, c := 1+rand.N(40), nodes[i%len(nodes)].As(agent)
				body := c.Body(t, "sign_transaction", l.pay(int64(amount)*1_000_000))
				wait.Go(func() {
					time.Sleep(rand.N(20 * time.Millisecond)) // so that some are over before others begin
					called := time.Since(start)
					reply := c.Post(t, "sign_transaction", body)
					if reply.Status != http.StatusOK && reply.Status != http.StatusForbidden {
						t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
					}
					mu.Lock()
					defer mu.Unlock()
					history = append(history, porcupine.Operation{
						ClientId: i, Input: amount, Call: called.Nanoseconds(),
						Output: reply.Status == http.StatusOK, Return: time.Since(start).Nanoseconds(),
					})
				})
			}
			wait.Wait()
			if !porcupine.CheckOperations(model, history) {
				t.Errorf("round %d cannot have happened one after the other: %+v", round, history)
			}
		}
	})
}
