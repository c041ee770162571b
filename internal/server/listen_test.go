package server_test

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/test/testkit"
)

// TestListenTwice: two listeners with a port 0 get a port each. One that takes
// the place of the other is refused when it is bound, whatever the config knew,
// and the refusal names its setting. Nothing stays bound.
func TestListenTwice(t *testing.T) {
	_, port, _ := net.SplitHostPort(testkit.Reserve(t))
	for _, tt := range []struct {
		listen, metrics string
		works           bool
	}{
		{"127.0.0.1:0", "127.0.0.1:0", true},
		{"localhost:0", "127.0.0.1:0", true},
		{"127.0.0.1:" + port, "127.0.0.2:" + port, true},
		{"127.0.0.1:" + port, "[::1]:" + port, true},
		{"127.0.0.1:" + port, "127.0.0.1:" + port, false},
		{"127.0.0.1:" + port, "localhost:" + port, false},
		{"127.0.0.1:" + port, "[::ffff:127.0.0.1]:" + port, false},
		{"127.0.0.1:" + port, "0.0.0.0:" + port, false},
		{"[::1]:" + port, "0.0.0.0:" + port, false},
		{"127.0.0.1:" + port, "[::]:" + port, false},
		{"127.0.0.1:" + port, ":" + port, false},
	} {
		t.Run(tt.listen+" and "+tt.metrics, func(t *testing.T) {
			file := "listen: '" + tt.listen + "'\nmetrics: {listen: '" + tt.metrics + "'}\n"
			if _, err := config.Parse("latchkey.yaml", []byte(file)); (err == nil) != tt.works {
				t.Errorf("the config: %v", err)
			}
			c := config.Default()
			c.Listen, c.Metrics.Listen = tt.listen, tt.metrics
			bound, err := server.Bind(&c)
			if err == nil {
				bound.Close()
			}
			switch {
			case tt.works != (err == nil):
				t.Errorf("binding both: %v", err)
			case err != nil && !strings.HasPrefix(err.Error(), "metrics.listen: "+tt.metrics+" is in use, by another setting, which has the same port, or"):
				t.Errorf("the refusal does not say whose it is: %v", err)
			}
			again, err := net.Listen("tcp", tt.listen)
			if err != nil {
				t.Fatalf("the first address stayed bound: %v", err)
			}
			again.Close()
		})
	}
}

// TestFramesBeside: the frames of a development server are at the next port that is
// free, and those of others only where the config says.
func TestFramesBeside(t *testing.T) {
	address := testkit.Reserve(t)
	_, text, _ := net.SplitHostPort(address)
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	next := net.JoinHostPort("127.0.0.1", strconv.Itoa(port+1))
	if taken, err := net.Listen("tcp", next); err == nil { // else another program has it
		defer taken.Close()
	}
	for listen, beside := range map[string]bool{address: true, "127.0.0.1:0": true, "localhost:0": false} {
		c := config.Default()
		c.Listen, c.Dev.FramesBeside = listen, beside
		bound, err := server.Bind(&c)
		if err != nil {
			t.Fatal(err)
		}
		got := bound.FramesAddress()
		bound.Close()
		if (got != nil) != beside {
			t.Errorf("%s: frames at %v", listen, got)
		}
		if got != nil && (got.String() == next || got.String() == address) {
			t.Errorf("%s: frames at %v, which is taken", listen, got)
		}
	}
}
