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

// Floor makes the same requests as a world for the bare server, whose replies
// have signatures of its own.
type Floor struct {
	world  *World
	host   string
	signer string
}

// NewFloor makes requests for the bare server at baseURL that signs with the
// key of an Ethereum address.
func NewFloor(world *World, baseURL, signer string) (*Floor, error) {
	host, err := hostOf(baseURL)
	if err != nil {
		return nil, err
	}
	return &Floor{world, host, signer}, nil
}

// Prepare implements Source.
func (f *Floor) Prepare(name string, many bool, n int) ([]load.Request, error) {
	return f.world.prepare(name, many, n, func(d *draft) (load.Request, error) {
		r, err := d.sign(f.host)
		if strings.HasPrefix(d.operation, "query/") {
			r.Want, r.Check = nil, nil
		} else {
			r.Check = checkPayload(f.signer, sha256.Sum256(d.body))
		}
		return r, err
	})
}

// Peer makes requests for the signing endpoint of another server. It has one
// workload, SignRawPayload.
type Peer struct {
	Address string // host:port to connect to
	url     *url.URL
	headers string
	body    string
	want    string
}

// NewPeer makes requests for url. Headers are whole, such as "X-Token: abc". In
// body, {hex} and {base64} stand for 32 random bytes, different in each
// request. A reply is good if its status is 200 and it contains want.
func NewPeer(target string, headers []string, body, want string) (*Peer, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	if _, err := hostOf(target); err != nil {
		return nil, err
	}
	p := &Peer{Address: u.Host, url: u, body: body, want: want}
	for _, h := range headers {
		if name, _, ok := strings.Cut(h, ":"); !ok || name == "" || strings.ContainsAny(h, "\r\n") {
			return nil, fmt.Errorf("%q is not a header: it must be NAME: VALUE", name)
		}
		p.headers += h + "\r\n"
	}
	return p, nil
}

// Prepare implements Source.
func (p *Peer) Prepare(name string, many bool, n int) ([]load.Request, error) {
	if name != SignRawPayload || many {
		return nil, fmt.Errorf("a peer only has the workload %s, in one place", SignRawPayload)
	}
	requests := make([]load.Request, n)
	for i := range requests {
		var payload [32]byte
		rand.Read(payload[:])
		body := strings.NewReplacer(
			"{hex}", hex.EncodeToString(payload[:]),
			"{base64}", base64.StdEncoding.EncodeToString(payload[:]),
		).Replace(p.body)
		requests[i] = load.Request{Wire: wire(p.url.Host, p.url.RequestURI(), p.headers, []byte(body)), Want: []byte(p.want)}
	}
	return requests, nil
}
