package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"
)

// gateway takes one SMS a request, with any body.
type gateway struct {
	token    string
	slow     time.Duration
	received *folder
	known    once
}

// special are the numbers that misbehave; the last three digits say how.
var special = regexp.MustCompile(`15550000([0-9]{3})`)

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	switch {
	case err != nil:
		return
	case r.Method != http.MethodPost || r.URL.Path != "/sms":
		http.Error(w, "POST /sms", http.StatusNotFound)
		return
	case r.Header.Get("Authorization") != "Bearer "+g.token:
		http.Error(w, "unknown token", http.StatusUnauthorized)
		return
	}
	text := string(body)
	if form, err := url.QueryUnescape(text); err == nil {
		text = form
	}
	if m := special.FindStringSubmatch(text); m != nil && !g.misbehave(w, m[0], m[1], body) {
		return
	}
	record, err := json.MarshalIndent(map[string]any{"header": r.Header, "body": string(body)}, "", "  ")
	if err == nil {
		err = g.received.put(".json", append(record, '\n'))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// misbehave reports whether the SMS is taken all the same.
func (g *gateway) misbehave(w http.ResponseWriter, number, how string, body []byte) bool {
	switch how {
	case "001": // no answer at all
		panic(http.ErrAbortHandler)
	case "002":
		time.Sleep(g.slow)
		return true
	case "003":
		if g.known.first(number) {
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return false
		}
		return true
	}
	status, err := strconv.Atoi(how)
	if err != nil || status < 200 {
		http.Error(w, "there is no such misbehaviour", http.StatusBadRequest)
		return false
	}
	if status/100 == 3 {
		w.Header().Set("Location", "/sms")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a gateway that repeats what it was sent
	return false
}
