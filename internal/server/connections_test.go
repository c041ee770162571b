package server_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"

	"latchkey/internal/server/config"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/servertest"
)

// TestFewConnections: a database that admits fewer connections than two servers
// could use makes requests wait, not fail.
func TestFewConnections(t *testing.T) {
	url := pgtest.Start(t, "max_connections=7", "superuser_reserved_connections=0").URL(t)
	first := servertest.Start(t, url, config.Default())
	second := servertest.Start(t, url, config.Default())
	nodes := []*servertest.Caller{first.Root, second.As(first.Root)}
	var wg sync.WaitGroup
	for i := range 64 {
		node := nodes[i%len(nodes)]
		wg.Go(func() {
			for k := range 4 {
				create := node.Body(t, "create_user_tag", map[string]any{"userTagName": strconv.Itoa(4*i + k), "userIds": []any{}})
				if i%8 == 0 {
					if reply := node.Post(t, "create_user_tag", create); reply.Status != http.StatusOK {
						t.Errorf("create_user_tag: HTTP %d: %s", reply.Status, reply.Body)
					}
				}
				if reply := node.Post(t, "whoami", node.Body(t, "whoami", nil)); reply.Status != http.StatusOK {
					t.Errorf("whoami: HTTP %d: %s", reply.Status, reply.Body)
				}
			}
		})
	}
	wg.Wait()
}
