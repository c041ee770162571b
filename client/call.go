package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	submitPath = "/public/v1/submit/"
	queryPath  = "/public/v1/query/"
)

// In is the client with another organization: a child, say.
func (c *Client) In(organizationID string) *Client {
	other := *c
	other.OrganizationID = organizationID
	return &other
}

// Submit sends an activity of any type that the operation serves, older
// versions too, with parameters that marshal to a JSON object. It returns the
// activity whatever its outcome: [Activity.Err] tells.
func (c *Client) Submit(ctx context.Context, operation, activityType string, parameters any) (*Activity, error) {
	body, err := c.SubmitBody(activityType, parameters)
	if err != nil {
		return nil, err
	}
	return c.post(ctx, operation, body)
}

// SubmitBody is the body of a request to a submit path, at the time of
// [Client.Now].
func (c *Client) SubmitBody(activityType string, parameters any) ([]byte, error) {
	if c.OrganizationID == "" {
		return nil, errNoOrganization
	}
	body, err := json.Marshal(struct {
		Type           string `json:"type"`
		TimestampMs    string `json:"timestampMs"`
		OrganizationID string `json:"organizationId"`
		Parameters     any    `json:"parameters"`
	}{activityType, strconv.FormatInt(c.now().UnixMilli(), 10), c.OrganizationID, parameters}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	return body, nil
}

// Query asks an operation of any name: request marshals to a JSON object
// without organizationId, which is added, and reply is what the answer is read
// into.
func (c *Client) Query(ctx context.Context, operation string, request, reply any) error {
	return c.query(ctx, queryPath+operation, request, reply)
}

func (c *Client) query(ctx context.Context, path string, request, reply any) error {
	body, err := c.QueryBody(request)
	if err != nil {
		return err
	}
	answer, err := c.Post(ctx, path, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, reply); err != nil {
		return fmt.Errorf("reading the reply: %w", err)
	}
	return nil
}

// QueryBody is the body of a request to a query path.
func (c *Client) QueryBody(request any) ([]byte, error) {
	if c.OrganizationID == "" {
		return nil, errNoOrganization
	}
	members := map[string]jsontext.Value{}
	text, err := json.Marshal(request)
	if err == nil {
		err = json.Unmarshal(text, &members)
	}
	if err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	if members == nil { // of null
		members = map[string]jsontext.Value{}
	}
	organization, err := json.Marshal(c.OrganizationID)
	if err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	members["organizationId"] = organization
	return json.Marshal(members, json.Deterministic(true))
}

var errNoOrganization = errors.New("the client's OrganizationID is not set")

// post sends the body of an activity.
func (c *Client) post(ctx context.Context, operation string, body []byte) (*Activity, error) {
	answer, err := c.Post(ctx, submitPath+operation, body)
	if err != nil {
		return nil, err
	}
	var reply struct {
		Activity *Activity `json:"activity"`
	}
	if err := json.Unmarshal(answer, &reply); err != nil {
		return nil, fmt.Errorf("reading the reply: %w", err)
	}
	if reply.Activity == nil {
		return nil, errors.New("reading the reply: it holds no activity")
	}
	return reply.Activity, nil
}

func (c *Client) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// Prepared is a request of an activity with the result R. Its bytes are fixed,
// and sending them is safe as often as needed: the server records one
// fingerprint once, and answers the same bytes with the same activity. So a
// caller that lost a reply sends the Prepared again, where a new call of a
// method would be a new activity.
//
// The fields are all that is needed to send it from another process. Bytes that
// another user sends are that user's approval.
type Prepared[R any] struct {
	Operation string // the last part of the path
	ResultKey string // where a reply has the result
	Body      []byte
}

// Fingerprint is what the server will call the activity.
func (p *Prepared[R]) Fingerprint() string {
	digest := sha256.Sum256(p.Body)
	return "sha256:" + hex.EncodeToString(digest[:])
}

// Send stamps and sends the request. The result is nil unless the activity is
// completed; why it is not is the error: a [*PendingError], [*RejectedError] or
// [*FailedError] with the activity, or an [*Error] for a request that was
// refused.
func (p *Prepared[R]) Send(ctx context.Context, c *Client) (*R, *Activity, error) {
	activity, err := c.post(ctx, p.Operation, p.Body)
	if err != nil {
		return nil, nil, err
	}
	if err := activity.Err(); err != nil {
		return nil, activity, err
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(activity.Result, &members); err != nil {
		return nil, activity, fmt.Errorf("reading the result: %w", err)
	}
	text, ok := members[p.ResultKey]
	if !ok {
		return nil, activity, fmt.Errorf("the activity is completed, but its result has no %s", p.ResultKey)
	}
	result := new(R)
	if err := json.Unmarshal(text, result); err != nil {
		return nil, activity, fmt.Errorf("reading the result: %w", err)
	}
	return result, activity, nil
}

func prepare[R any](c *Client, operation, activityType, resultKey string, parameters any) (*Prepared[R], error) {
	body, err := c.SubmitBody(activityType, parameters)
	if err != nil {
		return nil, err
	}
	return &Prepared[R]{Operation: operation, ResultKey: resultKey, Body: body}, nil
}

// perform prepares and sends a request once.
func perform[R any](ctx context.Context, c *Client, prepare func(*Client) (*Prepared[R], error)) (*R, *Activity, error) {
	request, err := prepare(c)
	if err != nil {
		return nil, nil, err
	}
	return request.Send(ctx, c)
}

func ask[R any](ctx context.Context, c *Client, path string, request any) (*R, error) {
	reply := new(R)
	if err := c.query(ctx, path, request, reply); err != nil {
		return nil, err
	}
	return reply, nil
}
