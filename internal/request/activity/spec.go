// Package activity is the grammar of an operation: what must be said once to
// add one to the interface. Route, decoding, validation, names, OpenAPI, metric
// labels and the tests of every refusal follow from the declaration.
package activity

import (
	"fmt"
	"strconv"
	"strings"

	"latchkey/internal/request/decide"
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
	// AboutCaller: it tells who calls, wherever that is, and nothing of the
	// organization that it names.
	AboutCaller bool
	// ByRecovery: a user whose only proof is a recovery key.
	ByRecovery bool
	// ByAttestation: a user who is proven by a token that names the key of the
	// stamp, and not by a key that the organization knows.
	ByAttestation bool
	// Deleted: members of the parent of an organization that is deleted, too.
	Deleted bool
	// AuthProxy: the auth proxy of the organization, or of its parent.
	AuthProxy AuthProxyAccess
}

// AuthProxyAccess says where an auth proxy may do an operation, by the key of its
// own. Together they are all that the key is good for.
type AuthProxyAccess uint8

const (
	// NotByAuthProxy: nowhere.
	NotByAuthProxy AuthProxyAccess = iota
	// AuthProxyAtHome: in the organization whose proxy it is.
	AuthProxyAtHome
	// AuthProxyInChild: in the children of that organization, and not in itself:
	// the proxy logs no user of the parent in.
	AuthProxyInChild
)

// Govern says who may do the activity, and what a policy sees of it.
type Govern struct {
	Resource Resource
	Action   Action
	// By says who decides; the zero value is policies.
	By decide.Governor
}

// Resource is what an activity is about, in the words of policies.
type Resource string

// The resources in use.
const (
	ResourceAuth            Resource = "AUTH"
	ResourceAuthProxy       Resource = "AUTH_PROXY"
	ResourceCredential      Resource = "CREDENTIAL"
	ResourceInterface       Resource = "SMART_CONTRACT_INTERFACE"
	ResourceInvitation      Resource = "INVITATION"
	ResourceMFAPolicy       Resource = "MFA_POLICY"
	ResourceOTP             Resource = "OTP"
	ResourceOrganization    Resource = "ORGANIZATION"
	ResourcePolicy          Resource = "POLICY"
	ResourcePrivateKey      Resource = "PRIVATE_KEY"
	ResourceRecovery        Resource = "RECOVERY"
	ResourceSecret          Resource = "SECRET"
	ResourceSessionProfile  Resource = "SESSION_PROFILE"
	ResourceUser            Resource = "USER"
	ResourceVelocityControl Resource = "VELOCITY_CONTROL"
	ResourceWallet          Resource = "WALLET"
	ResourceWebhook         Resource = "WEBHOOK_ENDPOINT"
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
