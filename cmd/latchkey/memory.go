package main

import (
	"os"
	"runtime/debug"
)

// collectLater lets the heap of a server grow further before it is collected
// than Go does by itself. Requests leave much garbage and little else, and
// memory is what a server has; GOGC still decides where it is set.
func collectLater() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
}
