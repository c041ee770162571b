// Command issuer runs the OpenID Connect issuer of package oidctest, for tests
// only. It ends at SIGTERM or when its stdin is closed.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"latchkey/internal/test/oidctest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	if err := oidctest.Run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "issuer:", err)
		os.Exit(1)
	}
}
