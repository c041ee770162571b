// Package server may look at the clock.
package server

import "time"

var started = time.Now()
