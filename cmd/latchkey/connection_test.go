package main

import (
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
)

// TestReadableReset: plain HTTP at a TLS port ends in a connection that is cut.
func TestReadableReset(t *testing.T) {
	for _, cause := range []error{syscall.ECONNRESET, io.EOF} {
		if err := readable(fmt.Errorf("posting: %w", cause)); !strings.Contains(err.Error(), "begins with https://") {
			t.Error(err)
		}
	}
}

// TestJSONProblem counts lines and columns from 1.
func TestJSONProblem(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}`:       "",
		`[1]`:           "",
		"{\n  \"a\" 1}": "line 2, column 7 is not JSON",
		"x":             "line 1, column 1 is not JSON",
		"a: b":          "this looks like YAML",
		"# a\nb: c":     "this looks like YAML",
		"":              "line 1, column 1 is not JSON",
		"{} {}":         "more after the end",
	} {
		err := jsonProblem([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
