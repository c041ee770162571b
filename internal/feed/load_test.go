package feed_test

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"

	"latchkey/internal/server/config"
	. "latchkey/internal/test/servertest"
)

// TestUnderLoad: readers who follow many writers at once, on two nodes where there
// can be two, see everything that was acknowledged, once and in one order, in which
// what was acknowledged before something else was sent comes first.
func TestUnderLoad(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		settings := config.Default()
		settings.Limits.Tags, settings.Limits.ChildTags = 1000, 1000
		nodes := []*Server{Start(t, url, settings)}
		if nodes[0].Kind == "postgres" {
			nodes = append(nodes, Start(t, url, settings))
		}
		root := nodes[0].Root
		children := []*Caller{root, newChild(t, nodes[0], root, "Ann"), newChild(t, nodes[0], root, "Bob")}
		const writers, each = 6, 40
		written := make([][]string, writers)
		var writing, reading sync.WaitGroup
		for w := range writers {
			c := nodes[w%len(nodes)].As(children[w%len(children)])
			writing.Go(func() {
				for i := range each { // of which some raise the version of the organization, and some do not
					body := c.Body(t, "create_user_tag", tag(fmt.Sprint(w, " ", i-i%3)))
					reply := c.Post(t, "create_user_tag", body)
					if reply.Status != 200 && reply.Status != 409 {
						t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
					}
					written[w] = append(written[w], fmt.Sprintf("sha256:%x", sha256.Sum256(body)))
				}
			})
		}
		seen := make([][]string, 2*len(nodes))
		for r := range seen {
			c := nodes[r%len(nodes)].As(root)
			reading.Go(func() {
				if r < len(nodes) {
					seen[r] = follow(t, c, 2+writers*each)
					return
				}
				stream := c.Open(t, streamPath, ask(c, m{"includeSubOrganizations": true}))
				for len(seen[r]) < 2+writers*each {
					e, ok := stream.Next()
					if !ok || e.Name != "" {
						t.Errorf("the stream ended after %d events with %v", len(seen[r]), e)
						return
					}
					seen[r] = append(seen[r], e.Data.Get("activity", "fingerprint").Text())
				}
			})
		}
		writing.Wait()
		reading.Wait()
		at := map[string]int{}
		for i, fingerprint := range seen[0] {
			if _, twice := at[fingerprint]; twice {
				t.Errorf("%s was shown twice", fingerprint)
			}
			at[fingerprint] = i
		}
		for r := range seen {
			if fmt.Sprint(seen[r]) != fmt.Sprint(seen[0]) {
				t.Errorf("reader %d has seen another order", r)
			}
		}
		for w := range written {
			for i, fingerprint := range written[w] {
				place, shown := at[fingerprint]
				if !shown || i > 0 && at[written[w][i-1]] > place {
					t.Errorf("writer %d: activity %d was not shown, or before the one before it", w, i)
				}
			}
		}
	})
}

// follow reads pages while they grow, until there were so many events.
func follow(t *testing.T, c *Caller, want int) (fingerprints []string) {
	events, _ := readAll(t, c, want, m{"includeSubOrganizations": true, "limit": 7})
	for _, e := range events {
		fingerprints = append(fingerprints, e.Get("activity", "fingerprint").Text())
	}
	return fingerprints
}
