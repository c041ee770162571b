// Package migration reads the forward steps of a schema from the files of a
// driver. How they are applied is the driver's business.
package migration

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Step is one forward step.
type Step struct {
	Version int64
	SQL     string
}

// Load reads migrations/NNNN_what.sql, numbered from 1 without gaps.
func Load(files fs.FS) ([]Step, error) {
	names, err := fs.Glob(files, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	var all []Step
	for i, name := range names {
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil || version != int64(i+1) {
			return nil, fmt.Errorf("migration %s: the number should be %04d", name, i+1)
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		all = append(all, Step{Version: version, SQL: string(body)})
	}
	return all, nil
}
