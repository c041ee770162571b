// Package activity is the grammar of an operation: what must be said once to
// add one to the interface. Route, decoding, validation, names, OpenAPI, metric
// labels and the tests of every refusal follow from the declaration.
package activity

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/store"
	"latchkey/internal/vault"
)

// Spec is everything that the outside may know about one version of one
// activity.
type Spec struct {
	Name    string // path segment: create_user_tag
	Version int    // 1 is written without a suffix
	Summary string
	Govern  Govern
	// Type, IntentKey and ResultKey follow from Name and Version when empty;
	// set only where the interface breaks its own rule.
	Type, IntentKey, ResultKey string
}

// Govern says what a policy sees of the activity.
type Govern struct {
	Resource Resource
	Action   Action
}

// Resource is what an activity is about, in the words of policies.
type Resource string

// The resources in use.
const (
	ResourceCredential Resource = "CREDENTIAL"
	ResourcePrivateKey Resource = "PRIVATE_KEY"
	ResourceUser       Resource = "USER"
	ResourceWallet     Resource = "WALLET"
)

// Action is what an activity does to its resource, in the words of policies.
type Action string

// The actions in use.
const (
	ActionCreate Action = "CREATE"
	ActionUpdate Action = "UPDATE"
	ActionDelete Action = "DELETE"
	ActionSign   Action = "SIGN"
	ActionExport Action = "EXPORT"
	ActionImport Action = "IMPORT"
)

// named fills in the names that follow from Name and Version.
func (s Spec) named() Spec {
	suffix := ""
	if s.Version > 1 {
		suffix = fmt.Sprintf("V%d", s.Version)
	}
	camel := lowerCamel(s.Name)
	if s.Type == "" {
		s.Type = "ACTIVITY_TYPE_" + strings.ToUpper(s.Name)
		if suffix != "" {
			s.Type += "_" + suffix
		}
	}
	if s.IntentKey == "" {
		s.IntentKey = camel + "Intent" + suffix
	}
	if s.ResultKey == "" {
		s.ResultKey = camel + "Result" + suffix
	}
	return s
}

// ofType takes a type apart into the name and version that it follows from.
func ofType(activityType string) Spec {
	s := Spec{Name: strings.ToLower(strings.TrimPrefix(activityType, "ACTIVITY_TYPE_")), Version: 1}
	if i := strings.LastIndex(s.Name, "_v"); i > 0 {
		if version, err := strconv.Atoi(s.Name[i+2:]); err == nil {
			s.Name, s.Version = s.Name[:i], version
		}
	}
	return s
}

func lowerCamel(name string) string {
	words := strings.Split(name, "_")
	for i := 1; i < len(words); i++ {
		if words[i] != "" {
			words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
		}
	}
	return strings.Join(words, "")
}

// Env is all that an executor can reach: no clock, no network, no other
// organization, no key bytes.
type Env struct {
	Tx       *store.Tx
	Keys     *vault.Session
	Identity *vault.Identity // signs what clients must be able to trust
	UserID   string          // who submitted the activity
	Now      time.Time
	NewID    func() string
	Limits   domain.Limits
}

// Reader is all that a query can reach.
type Reader struct {
	Tx     *store.Tx
	UserID string // who asks
	Now    time.Time
	// Activity renders an activity the way its asker may see it.
	Activity func(*domain.Activity) (View, error)
}
