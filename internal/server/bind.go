package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"syscall"

	"latchkey/internal/outbox/notify"
	"latchkey/internal/proof/oauth2"
	"latchkey/internal/server/config"
	"latchkey/internal/tracing"
	"latchkey/internal/witness"
)

// Bound is what a server takes before it opens, or makes, anything: its
// addresses, its certificate, its ways to send messages. A config whose server
// could not start changes nothing.
type Bound struct {
	config      *config.Config
	listeners   []net.Listener // all of them, the interface first
	metrics     net.Listener   // nil: on the interface's
	console     net.Listener   // the interface's, or its own
	authProxy   net.Listener   // nil: on the interface's
	operator    net.Listener   // a Unix socket; nil: there is none
	frames      net.Listener   // nil: there are none
	certificate *tls.Certificate
	router      *notify.Router
	witnesses   []*witness.Client
	providers   *oauth2.Client           // of OAuth 2.0
	collector   *tracing.CollectorConfig // of traces; nil: there are none
}

// Bind listens, but nothing is answered yet.
func Bind(c *config.Config) (_ *Bound, err error) {
	b := &Bound{config: c}
	defer func() {
		if err != nil {
			b.Close()
		}
	}()
	if b.console, err = b.listen("listen", c.Listen); err != nil {
		return nil, err
	}
	if c.Metrics.Listen != "" {
		if b.metrics, err = b.listen("metrics.listen", c.Metrics.Listen); err != nil {
			return nil, err
		}
	}
	if c.Console.Enabled && c.Console.Listen != "" {
		if b.console, err = b.listen("console.listen", c.Console.Listen); err != nil {
			return nil, err
		}
	}
	if c.AuthProxy.Listen != "" {
		if b.authProxy, err = b.listen("authProxy.listen", c.AuthProxy.Listen); err != nil {
			return nil, err
		}
	}
	if c.Operator.Socket != "" {
		if b.operator, err = listenOperator(c.Operator.Socket); err != nil {
			return nil, fmt.Errorf("operator.socket: %w", err)
		}
	}
	if b.frames, err = b.listenForFrames(); err != nil {
		return nil, err
	}
	if c.TLS.Enabled() {
		if b.certificate, err = loadCertificate(c.TLS); err != nil {
			return nil, err
		}
	}
	if b.witnesses, err = newWitnesses(&c.Log); err != nil {
		return nil, err
	}
	if b.providers, err = newProviders(c); err != nil {
		return nil, err
	}
	if b.collector, err = newCollector(&c.Traces); err != nil {
		return nil, err
	}
	b.router, err = newRouter(c)
	return b, err
}

func (b *Bound) listen(setting, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) && b.has(address) {
		return nil, fmt.Errorf("%s: %s is in use, by another setting, which has the same port, or by another program; name another port: %w", setting, address, err)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s: another program uses %s; stop it, or name another address (port 0 is any that is free): %w", setting, address, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	b.listeners = append(b.listeners, listener)
	return listener, nil
}

// listenForFrames takes the address of the frames, or the next free port after the
// interface's.
func (b *Bound) listenForFrames() (net.Listener, error) {
	c := b.config
	switch {
	case c.Frames.Listen != "":
		return b.listen("frames.listen", c.Frames.Listen)
	case !c.Dev.FramesBeside:
		return nil, nil
	}
	address := b.listeners[0].Addr().(*net.TCPAddr)
	at := func(port int) string { return net.JoinHostPort(address.IP.String(), strconv.Itoa(port)) }
	if _, port, _ := net.SplitHostPort(c.Listen); port != "0" { // any free port was asked for, and so is this
		for port := address.Port + 1; port <= address.Port+100 && port < 1<<16; port++ {
			listener, err := b.listen("frames", at(port))
			if !errors.Is(err, syscall.EADDRINUSE) {
				return listener, err
			}
		}
	}
	return b.listen("frames", at(0))
}

// has reports whether the port of an address is that of a listener which is
// bound already.
func (b *Bound) has(address string) bool {
	_, port, _ := net.SplitHostPort(address) // it was listened on
	return slices.ContainsFunc(b.listeners, func(l net.Listener) bool {
		return strconv.Itoa(l.Addr().(*net.TCPAddr).Port) == port
	})
}

// Loopback reports whether only this machine can reach the interface.
func (b *Bound) Loopback() bool { return b.listeners[0].Addr().(*net.TCPAddr).IP.IsLoopback() }

// Close gives the addresses back. After the server has run it does nothing.
func (b *Bound) Close() {
	for _, listener := range b.listeners {
		_ = listener.Close() // it may be closed already
	}
	if b.operator != nil {
		_ = b.operator.Close()
	}
}
