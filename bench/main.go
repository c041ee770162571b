// Command bench loads servers with signed requests and reports how fast they
// are compared with the baseline, a bare server that does the least possible
// (package baseline). `make bench` runs it; README.md says how to read it.
//
// All servers are processes of their own and stay up for the whole run, while
// the rounds go through them in turn: what slows the machine down for a while
// slows them all, and the ratios hold. Only ratios are worth keeping.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

type commands struct {
	Run      runCommand      `cmd:"" default:"withargs" help:"Load the servers and report."`
	Growth   growthCommand   `cmd:"" help:"Measure how Latchkey changes when its store holds more and more."`
	Table    tableCommand    `cmd:"" help:"Print what was measured as tables in Markdown."`
	Plot     plotCommand     `cmd:"" help:"Draw what bench growth measured."`
	Baseline baselineCommand `cmd:"" hidden:"" help:"Run the bare server."`
	Serve    serveCommand    `cmd:"" hidden:"" help:"Run Latchkey from a config file, with profiles on another port."`
}

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var c commands
	command := kong.Parse(&c, kong.Name("bench"),
		kong.Description("Load Latchkey, and a bare server beside it, with signed requests."), kong.UsageOnError())
	command.BindTo(ctx, (*context.Context)(nil))
	err := command.Run()
	stop()
	if err != nil {
		log.Fatalf("bench: %v", err)
	}
}
