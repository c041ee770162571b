package main

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/bench/floor"
	"latchkey/bench/process"
)

type floorCommand struct {
	File   string         `required:"" help:"Where records go."`
	Reply  map[string]int `help:"Sizes of the replies by operation, such as query/whoami=120."`
	Linger time.Duration  `default:"1ms" help:"Longest wait for other records."`
}

// Run serves until a signal comes.
func (cmd *floorCommand) Run(ctx context.Context) error {
	collectLater()
	s, err := floor.Start(floor.Config{File: cmd.File, ReplySizes: cmd.Reply, Linger: cmd.Linger})
	if err != nil {
		return err
	}
	if err := ready(process.Line{Address: s.URL, Signer: s.Address}); err != nil {
		return err
	}
	<-ctx.Done()
	drain, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return s.Stop(drain)
}

// collectLater does what cmd/latchkey does: servers that are compared must not
// differ in how often their garbage is collected.
func collectLater() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
}

// ready tells whoever started this process.
func ready(line process.Line) error {
	line.Message = "ready"
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(text, '\n'))
	return err
}
