package docgen

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/openapi"
	"latchkey/internal/request/ops"
)

// Shoes is a member that no declaration has.
type Shoes struct {
	ShoeSize int32 `json:"shoeSize" check:"required,min=1,max=60" doc:"Size of the shoes."`
}

type (
	tagParams struct {
		ops.CreateUserTagParams
		Shoes
	}
	tagResult struct {
		ops.CreateUserTagResult
		Shoes
	}
	userParams struct {
		ops.GetUserParams
		Shoes
	}
	userReply struct {
		ops.GetUserReply
		Shoes
	}
)

// TestDeclarationReachesDocuments proves that pages and OpenAPI come from the
// declarations: a member that is added to one changes the page of its operation
// and no other, and what was recorded no longer fits.
func TestDeclarationReachesDocuments(t *testing.T) {
	const row = "| `shoeSize` | integer, 1 to 60 | yes | Size of the shoes. |\n"
	tag, user, unchanged := ops.CreateUserTag.Spec, ops.GetUser, ops.Catalog()
	examples := recorded(t)
	pages := newReference(unchanged, examples).pages()
	document, err := openapi.Document(unchanged, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		catalog   *activity.Catalog
		operation string
		section   string // of the page, in which the member appears
		problem   string
	}{
		{
			"parameters of an activity",
			withActivity(activity.Op[tagParams, ops.CreateUserTagResult]{Spec: tag, Exec: never[tagParams, ops.CreateUserTagResult]}.Compile()),
			tag.Name, "Parameters", "create_user_tag: parameters: bad request body: shoeSize: is required",
		},
		{
			"result of an activity",
			withActivity(activity.Op[ops.CreateUserTagParams, tagResult]{Spec: tag, Exec: never[ops.CreateUserTagParams, tagResult]}.Compile()),
			tag.Name, "Result", "create_user_tag: createUserTagResult: bad request body: shoeSize: is required",
		},
		{
			"body of a query",
			withQuery(activity.Query[userParams, ops.GetUserReply]{Name: user.Name, Summary: user.Summary, Read: unread[userParams, ops.GetUserReply]}.Compile()),
			user.Name, "Body", "get_user: request: bad request body: shoeSize: is required",
		},
		{
			"reply of a query",
			withQuery(activity.Query[ops.GetUserParams, userReply]{Name: user.Name, Summary: user.Summary, Read: unread[ops.GetUserParams, userReply]}.Compile()),
			user.Name, "Reply", "get_user: reply: bad request body: shoeSize: is required",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, got := range newReference(c.catalog, examples).pages() {
				want := pages[name]
				if name == c.operation+".md" {
					before, after, ok := strings.Cut(want, "\n## "+c.section+"\n")
					members, rest, more := strings.Cut(after, "\n\n## ")
					if !ok || !more {
						t.Fatalf("%s has no section %s, or nothing after it", name, c.section)
					}
					want = before + "\n## " + c.section + "\n" + members + "\n" + row + "\n## " + rest
				}
				if diff := cmp.Diff(got, want); diff != "" {
					t.Errorf("%s (-got +want):\n%s", name, diff)
				}
			}
			if got := disagreements(c.catalog, examples); !slices.Contains(got, c.problem) {
				t.Errorf("the recorded examples still fit, or for another reason not: %q", got)
			}
			changed, err := openapi.Document(c.catalog, "")
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(changed, document) || !bytes.Contains(changed, []byte(`"shoeSize"`)) {
				t.Error("the OpenAPI document is the same")
			}
		})
	}
}

// TestDeclarationNeedsExample proves that an operation cannot be added, or its
// version raised, without an example from a real run.
func TestDeclarationNeedsExample(t *testing.T) {
	spec := ops.CreateUserTag.Spec
	for _, c := range []struct {
		name, operation string
		version         int
		problem         string
	}{
		{"new operation", "create_shoes", 1, "create_shoes: has no example"},
		{"new version", spec.Name, 2, "create_user_tag: request: the type is ACTIVITY_TYPE_CREATE_USER_TAG, but ACTIVITY_TYPE_CREATE_USER_TAG_V2 is the newest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := spec
			spec.Name, spec.Version = c.operation, c.version
			catalog := withActivity(activity.Op[ops.CreateUserTagParams, ops.CreateUserTagResult]{Spec: spec, Exec: never[ops.CreateUserTagParams, ops.CreateUserTagResult]}.Compile())
			if diff := cmp.Diff(disagreements(catalog, recorded(t)), []string{c.problem}); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

func never[P, R any](context.Context, activity.Env, *P) (R, error) { panic("it is only described") }

func unread[P, R any](context.Context, activity.Reader, *P) (R, error) { panic("it is only described") }

// withActivity is the catalog with one activity in the place of that of the same
// type, or beside the others.
func withActivity(a *activity.CompiledOp) *activity.Catalog {
	catalog := ops.Catalog()
	all := []*activity.CompiledOp{a}
	for _, p := range catalog.Endpoints {
		for _, other := range p.Versions {
			if other.Type != a.Type {
				all = append(all, other)
			}
		}
	}
	return activity.NewCatalog(all, catalog.Queries)
}

// withQuery is the catalog with one query in the place of that of the same name.
func withQuery(q *activity.CompiledQuery) *activity.Catalog {
	catalog := withActivity(ops.CreateUserTag.Compile())
	queries := slices.Clone(catalog.Queries)
	queries[slices.IndexFunc(queries, func(other *activity.CompiledQuery) bool { return other.Name == q.Name })] = q
	var all []*activity.CompiledOp
	for _, p := range catalog.Endpoints {
		all = append(all, p.Versions...)
	}
	return activity.NewCatalog(all, queries)
}
