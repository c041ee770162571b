package workload

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"latchkey/bench/load"
)

// Baseline makes the same requests for the bare server at host, whose replies
// have signatures by the key of signer, an Ethereum address.
func (d *Dataset) Baseline(host, signer string) Source {
	return d.source(host, func(draft *draft, r *load.Request) {
		if strings.HasPrefix(draft.operation, "query/") {
			r.Want, r.Check = nil, nil
		} else {
			r.Check = checkResult(checkPayload(signer, sha256.Sum256(draft.body)))
		}
	})
}

// Peer makes requests for the signing endpoint of another server, which has one
// workload, SignRawPayload. Headers are whole, such as "X-Token: abc". In body,
// {hex} and {base64} stand for 32 random bytes, different in each request. A
// reply is good if its status is 200 and it contains want.
func Peer(target string, headers []string, body, want string) (Source, error) {
	u, err := url.Parse(target)
	if err != nil {
		return Source{}, err
	}
	if u.Scheme != "http" || u.Port() == "" {
		return Source{}, fmt.Errorf("%s must be http://HOST:PORT/PATH", u.Redacted())
	}
	var lines strings.Builder
	for _, h := range headers {
		if name, _, ok := strings.Cut(h, ":"); !ok || name == "" || strings.ContainsAny(h, "\r\n") {
			return Source{}, fmt.Errorf("%q is not a header: it must be NAME: VALUE", name)
		}
		lines.WriteString(h + "\r\n")
	}
	return Source{u.Host, func(name string, many bool, n int) ([]load.Request, error) {
		if name != SignRawPayload || many {
			return nil, fmt.Errorf("a peer only has the workload %s, in one place", SignRawPayload)
		}
		requests := make([]load.Request, n)
		for i := range requests {
			requests[i] = load.Request{Wire: wire(u.Host, u.RequestURI(), lines.String(), fillIn(body)), Want: []byte(want)}
		}
		return requests, nil
	}}, nil
}

// fillIn puts random bytes into the body for a peer.
func fillIn(body string) []byte {
	var payload [32]byte
	rand.Read(payload[:])
	return []byte(strings.NewReplacer(
		"{hex}", hex.EncodeToString(payload[:]),
		"{base64}", base64.StdEncoding.EncodeToString(payload[:]),
	).Replace(body))
}
