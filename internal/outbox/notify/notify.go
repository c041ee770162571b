// Package notify sends the messages of the service: one-time codes, login
// bundles and recovery bundles, by mail (SMTP), by SMS (an HTTP gateway), or
// into a folder while developing.
//
// A [Message] holds everything that is needed to send it, so that it can wait in
// an outbox and be sent by another process, later and more than once. What
// identifies it to the receiver (Message-ID, Date, Idempotency-Key, file name)
// follows from the message alone: a receiver can recognise a second copy.
//
// The package refuses to send over a connection that others can read, to
// repeat a value that could end a header line, and to execute as a template
// anything that came from a client. Whether a message is tried again is the
// caller's business; an error says only whether that is useless ([Permanent])
// and whether the message may have arrived all the same ([ErrUncertain]).
//
// Always: codes, bundles and passwords are in no error, and in nothing that
// fmt or slog makes of the values of this package.
package notify

import (
	"context"
	"errors"
	"fmt"
)

// Sender sends one message. An error is a [*Permanent] when it is useless to try
// again, and temporary otherwise. A Sender may be used by many goroutines.
type Sender interface {
	Send(ctx context.Context, m *Message) error
}

// ErrDisabled says that no sender is configured for messages of this kind.
var ErrDisabled = errors.New("sending is not configured")

// ErrUncertain is wrapped by temporary errors after which the message may have
// been accepted: the connection ended between the message and its
// acknowledgement. The receiver recognises a second copy.
var ErrUncertain = errors.New("the message may have been accepted")

// Permanent says that the same message would fail again.
type Permanent struct {
	Err error
}

func (p *Permanent) Error() string { return p.Err.Error() }

// Unwrap lets [errors.Is] see the reason.
func (p *Permanent) Unwrap() error { return p.Err }

func permanent(format string, args ...any) error {
	return &Permanent{Err: fmt.Errorf(format, args...)}
}

// IsPermanent reports whether it is useless to send the message again.
func IsPermanent(err error) bool {
	var p *Permanent
	return errors.As(err, &p)
}
