package servertest

import (
	"bytes"
	"strings"
	"sync"
)

// Log collects what the server logs.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Complaints are the lines that say more than that a request was answered.
func (l *Log) Complaints() string {
	var found strings.Builder
	for line := range strings.Lines(l.String()) {
		if !strings.Contains(line, `"level":"INFO"`) {
			found.WriteString(line)
		}
	}
	return found.String()
}
