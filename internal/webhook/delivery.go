package webhook

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"latchkey/internal/webhook/target"
)

// Signer signs deliveries.
type Signer interface {
	SignDelivery(message func(keyID string) []byte) (keyID string, signature []byte, err error)
}

// Poster posts to the addresses of endpoints.
type Poster interface {
	Post(ctx context.Context, address string, header http.Header, body []byte) (target.Reply, error)
}

// delivery is an event on its way to an endpoint.
type delivery struct {
	organization string // of the endpoint
	address      string
	eventType    string
	eventID      string
	body         []byte
}

// headers signs an attempt as of now, in two ways over the same bytes: as the
// published clients verify it, and by the specification of Standard Webhooks.
func (v *delivery) headers(s Signer, now time.Time) (http.Header, error) {
	millis := strconv.FormatInt(now.UnixMilli(), 10)
	keyID, signature, err := s.SignDelivery(func(keyID string) []byte {
		return slices.Concat([]byte("v1.ed25519."+keyID+"."+millis+"."+v.eventID+"."), v.body)
	})
	if err != nil {
		return nil, err
	}
	seconds := strconv.FormatInt(now.Unix(), 10)
	_, standard, err := s.SignDelivery(func(string) []byte {
		return slices.Concat([]byte(v.eventID+"."+seconds+"."), v.body)
	})
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	for name, value := range map[string]string{
		"Content-Type":                  "application/json",
		"User-Agent":                    "Latchkey-Webhooks/1",
		"X-Turnkey-Organization-Id":     v.organization,
		"X-Turnkey-Event-Type":          v.eventType,
		"X-Turnkey-Event-Id":            v.eventID,
		"X-Turnkey-Timestamp":           millis,
		"X-Turnkey-Webhook-Version":     "1",
		"X-Turnkey-Signature-Key-Id":    keyID,
		"X-Turnkey-Signature-Algorithm": "ed25519",
		"X-Turnkey-Signature-Version":   "v1",
		"X-Turnkey-Signature":           hex.EncodeToString(signature),
		"Webhook-Id":                    v.eventID,
		"Webhook-Timestamp":             seconds,
		"Webhook-Signature":             "v1a," + base64.StdEncoding.EncodeToString(standard),
	} {
		header.Set(name, value)
	}
	return header, nil
}

// failure is why an attempt did not deliver.
type failure struct {
	reason     string // safe to show: it repeats nothing that a receiver wrote
	gone       bool   // the receiver wants no more
	retryAfter time.Duration
}

// attempt posts once; nil: it was delivered. An error is not the receiver's.
func (v *delivery) attempt(ctx context.Context, s Signer, p Poster, now time.Time) (*failure, error) {
	header, err := v.headers(s, now)
	if err != nil {
		return nil, fmt.Errorf("signing a delivery: %w", err)
	}
	reply, err := p.Post(ctx, v.address, header, v.body)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err() // this server stops
	case err != nil:
		return &failure{reason: err.Error()}, nil
	case reply.OK():
		return nil, nil
	}
	return &failure{
		reason: "the receiver answered with HTTP " + strconv.Itoa(reply.Status),
		gone:   reply.Status == http.StatusGone, retryAfter: reply.RetryAfter,
	}, nil
}
