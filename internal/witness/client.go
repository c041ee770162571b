package witness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"latchkey/internal/translog"
)

// Client asks one witness for cosignatures. It is safe for concurrent use.
type Client struct {
	url  string
	keys translog.Keys
	http *http.Client
	size atomic.Int64 // that the witness has probably cosigned
}

// timeout bounds one exchange with a witness.
const timeout = 10 * time.Second

// maxReply bounds what is read of a reply.
const maxReply = 256 << 10

// NewClient returns a client of the witness at a URL. Its key is one verifier key
// or several of the same witness, separated by white space: with both of a witness's
// keys, checkpoints carry both of its cosignatures.
func NewClient(at, key string) (*Client, error) {
	keys, err := translog.ParseWitnessKeys(strings.Fields(key)...)
	if err != nil {
		return nil, err
	}
	if names := keys.Names(); len(names) != 1 {
		return nil, fmt.Errorf("a witness has one name, and the key names %d: %q", len(names), names)
	}
	parsed, err := url.Parse(at)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" || parsed.RawQuery != "" || parsed.User != nil {
		// Not quoted: it may hold a password.
		return nil, errors.New("the url is not the address of a witness, such as https://witness.example/latchkey: http or https, without user, password and query")
	}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	own := http.DefaultTransport.(*http.Transport).Clone()
	return &Client{
		url: strings.TrimSuffix(at, "/"), keys: keys,
		http: &http.Client{Timeout: timeout, CheckRedirect: noRedirect, Transport: own},
	}, nil
}

// Close ends connections that are kept for the next exchange.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Name is the name of the witness.
func (c *Client) Name() string { return c.keys[0].Name() }

// Keys is the keys that cosignatures of the witness are verified with.
func (c *Client) Keys() translog.Keys { return c.keys }

// ForkError says that the witness has cosigned a tree of the log that this one does
// not continue: one of the two was changed, or this one is an older state.
type ForkError struct {
	Witness string
	Reason  string
}

func (e *ForkError) Error() string { return "witness " + e.Witness + ": " + e.Reason }

// Submit brings a signed checkpoint to the witness and returns it with the
// cosignature. prove makes the proof that its tree continues that of an older size.
// A [ForkError] says that the witness has seen another history of the log.
func (c *Client) Submit(ctx context.Context, signed *translog.Signed, prove func(old int64) ([]translog.Hash, error)) (*translog.Signed, error) {
	old := c.size.Load()
	for range 3 { // another node may submit at the same time
		cosigned, size, err := c.submit(ctx, signed, old, prove)
		if err != nil || cosigned != nil {
			return cosigned, err
		}
		old = size // what the witness says
	}
	return nil, fmt.Errorf("witness %s: its size changed with every attempt", c.Name())
}

// submit is one attempt. A size without a checkpoint is that of the witness.
func (c *Client) submit(ctx context.Context, signed *translog.Signed, old int64, prove func(old int64) ([]translog.Hash, error)) (*translog.Signed, int64, error) {
	if old > signed.Size {
		c.size.Store(0) // ask again next time
		return nil, 0, &ForkError{c.Name(), fmt.Sprintf("it has cosigned %d entries of %s, which has only %d now", old, signed.Origin, signed.Size)}
	}
	proof, err := prove(old)
	if err != nil {
		return nil, 0, err
	}
	body := submission{old: old, proof: proof, checkpoint: string(signed.Note())}.body()
	status, reply, err := c.exchange(ctx, http.MethodPost, "/add-checkpoint", body)
	if err != nil {
		return nil, 0, err
	}
	switch status {
	case http.StatusOK:
		cosigned, err := signed.Cosigned(reply, c.keys)
		if err == nil && len(cosigned.CosignedBy(c.keys)) == 0 {
			err = errors.New("it answers without a cosignature of each of its keys")
		}
		if err != nil {
			return nil, 0, fmt.Errorf("witness %s: %w", c.Name(), err)
		}
		c.size.Store(signed.Size)
		return cosigned, 0, nil
	case http.StatusConflict:
		size, err := strconv.ParseInt(strings.TrimSuffix(string(reply), "\n"), 10, 64)
		if err != nil || size < 0 || size == old {
			return nil, 0, fmt.Errorf("witness %s: it answers 409 with %.40q, not with another size", c.Name(), reply)
		}
		return nil, size, nil
	case http.StatusUnprocessableEntity:
		return nil, 0, &ForkError{c.Name(), fmt.Sprintf("the %d entries that it has cosigned of %s are not those of this log", old, signed.Origin)}
	}
	return nil, 0, fmt.Errorf("witness %s: it answers %d: %.200q", c.Name(), status, reply)
}

// Latest asks for the newest checkpoint of a log that the witness has cosigned; nil
// if there is none. Both signatures are verified, with the keys of the log and those
// of the witness: so it is proof of what the log once said.
func (c *Client) Latest(ctx context.Context, origin string, log translog.Keys) (*translog.Signed, error) {
	status, reply, err := c.exchange(ctx, http.MethodGet, "/"+OriginHash(origin)+"/checkpoint", "")
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusNotFound:
		return nil, nil
	case status != http.StatusOK:
		return nil, fmt.Errorf("witness %s: it answers %d: %.200q", c.Name(), status, reply)
	}
	latest, err := translog.OpenCheckpoint(reply, log, c.keys)
	if err == nil && (latest.Origin != origin || len(latest.CosignedBy(c.keys)) == 0) {
		err = fmt.Errorf("it answers with a checkpoint of %.80q that it has not cosigned with each of its keys", latest.Origin)
	}
	if err != nil {
		return nil, fmt.Errorf("witness %s: %w", c.Name(), err)
	}
	return latest, nil
}

// Knows reports whether the witness has cosigned anything of a log, whatever its
// keys are.
func (c *Client) Knows(ctx context.Context, origin string) (bool, error) {
	status, reply, err := c.exchange(ctx, http.MethodGet, "/"+OriginHash(origin)+"/checkpoint", "")
	if err == nil && status != http.StatusOK && status != http.StatusNotFound {
		err = fmt.Errorf("witness %s: it answers %d: %.200q", c.Name(), status, reply)
	}
	return status == http.StatusOK, err
}

func (c *Client) exchange(ctx context.Context, method, path, body string) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	reply, err := c.http.Do(r)
	if err != nil {
		return 0, nil, fmt.Errorf("witness %s: %w", c.Name(), err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxReply+1))
	if err == nil && len(text) > maxReply {
		err = fmt.Errorf("it answers with more than %d bytes", maxReply)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("witness %s: %w", c.Name(), err)
	}
	return reply.StatusCode, text, nil
}
