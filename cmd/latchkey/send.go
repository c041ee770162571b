package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"latchkey/client"
)

// sending is how a request is sent. The server takes the same bytes for the same
// activity, however often they come; with another time they would be another one.
type sending struct {
	Resend int `default:"0" placeholder:"N" help:"When the connection is lost or the server fails, send the same bytes again, up to N times. Default: ${default}."`
	// file has the bytes already; empty: none.
	file string
}

const (
	firstPause = 200 * time.Millisecond
	maxPause   = 5 * time.Second
)

// post sends the body, and says how to send it again when it is not known what
// became of it.
func (s sending) post(ctx context.Context, to *connection, c *client.Client, path string, body []byte) ([]byte, error) {
	reply, err := c.Post(ctx, path, body)
	pause := firstPause
	for again := 1; again <= s.Resend && unanswered(ctx, err); again++ {
		fmt.Fprintf(os.Stderr, "latchkey: %v\n  sending the same bytes again in %v (%d of %d)\n", err, pause, again, s.Resend)
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
		reply, err = c.Post(ctx, path, body)
	}
	if strings.Contains(path, "/submit/") && inDoubt(err) {
		err = &doubtError{err, s.keep(to, path, body)}
	}
	return reply, err
}

// unanswered reports whether the same request may yet get another answer.
func unanswered(ctx context.Context, err error) bool {
	var reply *client.Error
	if errors.As(err, &reply) {
		return reply.Status >= 500
	}
	return err != nil && ctx.Err() == nil
}

// inDoubt reports whether a request may have been carried out although it failed.
func inDoubt(err error) bool {
	var reply *client.Error
	if errors.As(err, &reply) {
		return reply.Status >= 500
	}
	var connecting *net.OpError
	return err != nil && (!errors.As(err, &connecting) || connecting.Op != "dial")
}

// doubtError is a failure after which the same request must be sent again.
type doubtError struct {
	error
	advice string
}

func (e *doubtError) Unwrap() error { return e.error }

// keep keeps the bytes, which hold the time of the request, and says how to send
// them.
func (s sending) keep(to *connection, path string, body []byte) (advice string) {
	const unknown = "whether it was carried out is not known until the same bytes are sent again"
	if s.file != "" {
		return fmt.Sprintf("%s: run the same command once more, with %s as it is; --resend N does so by itself", unknown, s.file)
	}
	file, err := os.CreateTemp("", "latchkey-request-*.json") // mode 0600
	if err == nil {
		_, err = file.Write(body)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Sprintf("%s, and they could not be kept: %v; --resend N sends them again by itself", unknown, err)
	}
	from := "--url " + quote(to.URL) + " --data " + quote(to.Data)
	if to.Key != "" {
		from = "--url " + quote(to.URL) + " --key " + quote(to.Key)
	}
	return fmt.Sprintf("%s. They are kept, readable by you alone; send them within an hour:\n    latchkey request --exact %s --resend 5 %s %s\n"+
		"  --resend N does so by itself", unknown, from, path, quote("@"+file.Name()))
}
