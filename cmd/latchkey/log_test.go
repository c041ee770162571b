package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"latchkey/internal/test/testkit"
)

// page reads a page of a server; "" if there is none.
func page(url string) (int, string) {
	reply, err := http.Get(url)
	if err != nil {
		return 0, ""
	}
	defer reply.Body.Close()
	body, _ := io.ReadAll(reply.Body)
	return reply.StatusCode, string(body)
}

// unready PATTERN waits until the server at $ADDRESS says why it is not ready.
func unready(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile(args[0])
	var last string
	if !testkit.Await(func() bool {
		var status int
		status, last = page("http://" + ts.Getenv("ADDRESS") + "/readyz")
		return status == http.StatusServiceUnavailable && pattern.MatchString(last)
	}) {
		ts.Fatalf("/readyz: %s", last)
	}
}

func wellknown(ts *testscript.TestScript, _ bool, args []string) {
	f, err := readDevFile(ts.MkAbs(args[0]))
	ts.Check(err)
	_, body := page(f.BaseURL + "/.well-known/latchkey.json")
	var known struct {
		LogVerifierKeys []string `json:"logVerifierKeys"`
	}
	ts.Check(json.Unmarshal([]byte(body), &known))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(known.LogVerifierKeys, "\n")+"\n"), 0o600))
}

func cosigned(ts *testscript.TestScript, _ bool, args []string) {
	f, err := readDevFile(ts.MkAbs(args[0]))
	ts.Check(err)
	if !testkit.Await(func() bool {
		_, note := page(f.BaseURL + "/latchkey/v1/log/checkpoint")
		return strings.Count(note, "\n— "+args[1]+" ") == 2
	}) {
		ts.Fatalf("%s has not cosigned", args[1])
	}
}
