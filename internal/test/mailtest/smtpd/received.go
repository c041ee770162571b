package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// folder keeps what was received, one file a message, numbered as they come.
type folder struct {
	dir   string
	mutex sync.Mutex
	last  int
}

// put makes the file appear whole.
func (s *folder) put(extension string, text []byte) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.last++
	name := fmt.Sprintf("%06d%s", s.last, extension)
	temporary := filepath.Join(s.dir, "."+name+".part")
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(s.dir, name))
}

// once remembers what was seen before.
type once struct {
	mutex sync.Mutex
	seen  map[string]bool
}

// first reports whether the key is new.
func (o *once) first(key string) bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.seen == nil {
		o.seen = map[string]bool{}
	}
	known := o.seen[key]
	o.seen[key] = true
	return !known
}
