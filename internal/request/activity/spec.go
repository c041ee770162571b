// Package activity is the grammar of an operation: what must be said once to
// add one to the interface. Route, decoding, validation, names, OpenAPI, metric
// labels and the tests of every refusal follow from the declaration.
package activity

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"latchkey/internal/chain/describe"
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/vault"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/policy/fact"
	"latchkey/internal/store"
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
	Access
	// Private: the result is a secret of whoever submitted the activity, and
	// nobody else is shown it.
	Private bool
}

// Access says who may call the operation, beside the members of the
// organization that it names.
type Access struct {
	// ByParent: members of the parent organization, whose quorum and policies
	// then decide.
	ByParent bool
	// FindsChild: a member of one child of the organization, who does not
	// know its id. The operation then happens in the child.
	FindsChild bool
	// ByRecovery: somebody whose only proof is a recovery key.
	ByRecovery bool
	// ByAttestation: somebody who proves himself by a token that names his
	// key, and not by a key that the organization knows.
	ByAttestation bool
}

// Govern says who may do the activity, and what a policy sees of it.
type Govern struct {
	Resource Resource
	Action   Action
	// By says who decides; the zero value is policies.
	By Governor
}

// Governor says who decides on an activity.
type Governor uint8

const (
	// Policies: the root quorum, or a policy that allows it.
	Policies Governor = iota
	// RootQuorum: the root quorum alone; policies do not see it.
	RootQuorum
	// Self: the user whom it is about, alone; neither policies nor the quorum
	// are asked.
	Self
	// Vote: it is a word on another activity, and whoever decides on that one
	// may say it.
	Vote
)

// Resource is what an activity is about, in the words of policies.
type Resource string

// The resources in use.
const (
	ResourceAuth         Resource = "AUTH"
	ResourceCredential   Resource = "CREDENTIAL"
	ResourceInterface    Resource = "SMART_CONTRACT_INTERFACE"
	ResourceOTP          Resource = "OTP"
	ResourceOrganization Resource = "ORGANIZATION"
	ResourcePolicy       Resource = "POLICY"
	ResourcePrivateKey   Resource = "PRIVATE_KEY"
	ResourceRecovery     Resource = "RECOVERY"
	ResourceUser         Resource = "USER"
	ResourceWallet       Resource = "WALLET"
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
	ActionVerify Action = "VERIFY"
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

// Kind is what policies call all versions of the activity: CREATE_USER_TAG.
func (s Spec) Kind() string { return strings.ToUpper(s.Name) }

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
	Vault     *vault.Session
	ServerKeys *vault.ServerKeys // signs what clients must be able to trust
	UserID   string          // who submitted the activity
	// CredentialType is what it was submitted with, and Credential the key by
	// which the credential is found; both empty for a login by a token.
	CredentialType domain.CredentialType
	Credential     string
	// Home is the organization of the submitter, where it is not the one that
	// the transaction is bound to: its parent.
	Home   string
	Now    time.Time
	NewID  func() string
	Limits domain.Limits
	// Claims are what the tokens that the operation listed say, by token. They
	// were verified when the activity was submitted.
	Claims map[string]domain.Claims
	// Origins are the pages whose passkeys the organization accepts; nil: all.
	Origins []string
	// CreateChild brings a child of the organization into being, and returns what
	// can be reached in it.
	CreateChild func(org string) (Env, error)
	// Outbox says which messages the server can send.
	Outbox Outbox
}

// Outbox says which messages the server can send.
type Outbox interface {
	// Enabled reports whether messages of the kind can be sent at all.
	Enabled(notify.Kind) bool
	// Check refuses a message that could not be sent. Its error is safe to
	// show.
	Check(*notify.Message) error
}

// Facts is what an operation says policies may know about it.
type Facts struct {
	Tx *store.Tx
	// Contracts finds what is known of contracts and programs.
	Contracts describe.Interfaces
	*fact.Request
}

// RefusalWithWrites is a refusal that leaves a trace: what an executor wrote is discarded,
// but what Keep writes is committed with the failure, such as the count of
// wrong codes.
type RefusalWithWrites struct {
	Refusal *fault.Error
	Keep    func(*store.Tx) error
}

func (k *RefusalWithWrites) Error() string { return k.Refusal.Error() }

// Unwrap shows the refusal.
func (k *RefusalWithWrites) Unwrap() error { return k.Refusal }

// Reader is all that a query can reach.
type Reader struct {
	Tx     *store.Tx
	UserID string // who asks
	Now    time.Time
	// Activity renders an activity the way its asker may see it.
	Activity func(*domain.Activity) (View, error)
	// Children lists the organization's children by a key of its directory,
	// after one of them; see store.Children.
	Children func(key, after string, limit int) ([]string, error)
	// Claims are what the tokens that the query listed say, by token.
	Claims map[string]domain.Claims
}
