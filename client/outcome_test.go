package client

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

func TestOutcome(t *testing.T) {
	for status, want := range map[ActivityStatus]string{
		ActivityStatusCompleted: "", ActivityStatusRejected: "was rejected", ActivityStatusFailed: "failed: no",
		ActivityStatusConsensusNeeded: "is not done", ActivityStatusCreated: "is not done", ActivityStatusPending: "is not done",
		ActivityStatusAuthenticatorsNeeded: "is not done", "ACTIVITY_STATUS_OF_TOMORROW": "is not done",
	} {
		err := (&Activity{ID: "1", Status: status, Failure: jsontext.Value(`{"code":6,"message":"no"}`)}).Err()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", status, err)
		}
	}
	for _, text := range []string{"", "null", "{}", "[", `{"message":1}`} {
		err := (&Activity{Status: ActivityStatusFailed, Failure: jsontext.Value(text)}).Err()
		var failed *FailedError
		if !errors.As(err, &failed) || failed.Message == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestDecodeResult(t *testing.T) {
	for text, want := range map[string]string{
		`{"createUserTagResult":{"userTagId":"1"},"activity":{}}`: "1",
		`{"createUserTagResult":{"userTagId":"1"}}`:               "1",
		`{"activity":{}}`:       "shows none",
		`{}`:                    "shows none",
		`{"a":{},"b":{}}`:       "shows none",
		`{"a":{"userTagId":1}}`: "reading the result",
		`[]`:                    "reading the result",
	} {
		var got CreateUserTagResult
		err := (&Activity{Status: ActivityStatusCompleted, Result: jsontext.Value(text)}).DecodeResult(&got)
		if want == "1" && (err != nil || got.UserTagID != "1") || want != "1" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	var pending *PendingError
	if err := (&Activity{Status: ActivityStatusPending}).DecodeResult(new(CreateUserTagResult)); !errors.As(err, &pending) {
		t.Error(err)
	}
}

// Replies that are no activity, or of another kind, are errors.
func TestStrangeReplies(t *testing.T) {
	for reply, want := range map[string]string{
		`{}`:                "holds no activity",
		`{"activity":null}`: "holds no activity",
		`[]`:                "reading the reply",
		`{"activity":{"status":"ACTIVITY_STATUS_COMPLETED","result":{"other":{}}}}`:               "has no createUserTagResult",
		`{"activity":{"status":"ACTIVITY_STATUS_COMPLETED","result":{"createUserTagResult":[]}}}`: "reading the result",
		`{"activity":{"status":"ACTIVITY_STATUS_COMPLETED"}}`:                                     "reading the result",
	} {
		base, _, _ := serve(t, 200, reply)
		c := &Client{BaseURL: base, OrganizationID: "x"}
		if result, _, err := c.CreateUserTag(t.Context(), CreateUserTagParameters{}); err == nil || result != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", reply, result, err)
		}
	}
	base, _, _ := serve(t, 200, `{"organizationId":1}`)
	if _, err := (&Client{BaseURL: base, OrganizationID: "x"}).Whoami(t.Context(), WhoamiRequest{}); err == nil {
		t.Error("a reply of another kind")
	}
	c := &Client{BaseURL: base}
	if _, err := c.Whoami(t.Context(), WhoamiRequest{}); !errors.Is(err, errNoOrganization) {
		t.Error(err)
	}
	if _, _, err := c.CreateUserTag(t.Context(), CreateUserTagParameters{}); !errors.Is(err, errNoOrganization) {
		t.Error(err)
	}
}

// Bodies are written as the interface wants them.
func TestBodies(t *testing.T) {
	base, _, body := serve(t, 200, `{}`)
	c := &Client{BaseURL: base, OrganizationID: "org", Now: func() time.Time { return time.UnixMilli(1794708835768) }}
	_, _, _ = c.CreateUsers(t.Context(), CreateUsersParameters{Users: []UserParameters{{UserName: "A", APIKeys: []APIKeyParameters{{ExpirationSeconds: 1 << 53}}, UserTags: []string{}}}})
	if want := `{"type":"ACTIVITY_TYPE_CREATE_USERS_V4","timestampMs":"1794708835768","organizationId":"org","parameters":{"users":[{"userName":"A","apiKeys":[{"apiKeyName":"","publicKey":"","curveType":"","expirationSeconds":"9007199254740992"}],"userTags":[]}]}}`; body.String() != want {
		t.Errorf("%s, want\n%s", body, want)
	}
	body.Reset()
	_, _, _ = c.UpdateUserTag(t.Context(), UpdateUserTagParameters{UserTagID: "1"})
	if want := `"parameters":{"userTagId":"1","addUserIds":[],"removeUserIds":[]}}`; !strings.HasSuffix(body.String(), want) {
		t.Errorf("%s, want\n%s", body, want)
	}
	body.Reset()
	_, _ = c.ListSuborgs(t.Context(), ListSuborgsRequest{FilterType: SuborgFilterTypeName, PaginationOptions: &Pagination{Limit: 7}})
	if want := `{"filterType":"NAME","organizationId":"org","paginationOptions":{"limit":"7"}}`; body.String() != want {
		t.Errorf("%s, want\n%s", body, want)
	}
	body.Reset()
	_, _ = c.Explain(t.Context(), ExplainRequest{Type: "T", Parameters: jsontext.Value(`{}`), Policies: []SupposedPolicy{}})
	if want := `{"organizationId":"org","parameters":{},"policies":[],"type":"T"}`; body.String() != want {
		t.Errorf("%s, want\n%s", body, want)
	}
}

func TestTimestamp(t *testing.T) {
	for in, want := range map[Timestamp]time.Time{
		{"1794708835", "768000000"}: time.Unix(1794708835, 768000000).UTC(),
		{"1794708835", ""}:          time.Unix(1794708835, 0).UTC(),
		{"", ""}:                    {},
		{"x", "1"}:                  {},
	} {
		if got := in.Time(); !got.Equal(want) {
			t.Errorf("%v: %v", in, got)
		}
	}
}
