package workload

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/bench/load"
)

// draft is a request before it is signed.
type draft struct {
	operation string // such as query/whoami
	by        Key
	body      []byte
	want      string
	check     func(reply []byte) error
	err       error // why there is none
}

const completed = "ACTIVITY_STATUS_COMPLETED"

// query drafts a request that changes nothing; want is in every good reply.
func (o *Organization) query(name, want string, body []byte) *draft {
	return &draft{operation: "query/" + name, by: o.Root, body: body, want: want}
}

// submit drafts an activity by the root user. Its result goes to check.
func (o *Organization) submit(name, version string, parameters []byte, check func(*result) error) *draft {
	return &draft{
		operation: "submit/" + name, by: o.Root, want: `"` + completed + `"`, check: checkResult(check),
		body: fmt.Appendf(nil, `{"type":"ACTIVITY_TYPE_%s%s","timestampMs":"%d","organizationId":"%s","parameters":%s}`,
			strings.ToUpper(name), version, time.Now().UnixMilli(), o.ID, parameters),
	}
}

// result has what the checks read of the results of all activities.
type result struct {
	R                 string   `json:"r"`
	S                 string   `json:"s"`
	V                 string   `json:"v"`
	SignedTransaction string   `json:"signedTransaction"`
	WalletID          string   `json:"walletId"`
	Addresses         []string `json:"addresses"`
	SubOrganizationID string   `json:"subOrganizationId"`
	Wallet            struct {
		WalletID  string   `json:"walletId"`
		Addresses []string `json:"addresses"`
	} `json:"wallet"`
	UserIDs   []string `json:"userIds"`
	PolicyIDs []string `json:"policyIds"`
}

var errResult = errors.New("the result is not of the right kind")

// checkResult hands the result in an activity's reply to check.
func checkResult(check func(*result) error) func([]byte) error {
	return func(text []byte) error {
		var reply struct {
			Activity struct {
				Status string            `json:"status"`
				Result map[string]result `json:"result"`
			} `json:"activity"`
		}
		if err := json.Unmarshal(text, &reply); err != nil {
			return err
		}
		if reply.Activity.Status != completed {
			return fmt.Errorf("the activity is %s", reply.Activity.Status)
		}
		for name, r := range reply.Activity.Result {
			if name != "activity" { // the same once more
				return check(&r)
			}
		}
		return errResult
	}
}

// sign makes a request of a draft.
func (d *draft) sign(host string) (load.Request, error) {
	if d.err != nil {
		return load.Request{}, d.err
	}
	name, value, err := d.by.Stamp(d.body)
	if err != nil {
		return load.Request{}, err
	}
	return load.Request{Wire: wire(host, "/public/v1/"+d.operation, name+": "+value+"\r\n", d.body), Want: []byte(d.want), Check: d.check}, nil
}

// wire writes a request as it is sent; headers are whole lines.
func wire(host, path, headers string, body []byte) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
		path, host, headers, len(body), body)
}

// perform sends drafts, and checks and learns from every reply. They are signed
// in portions, because none may be old when it is sent.
func perform(host string, connections int, drafts ...*draft) error {
	const portion, limit = 1000, 2 * time.Minute
	clients, err := load.Dial(host, min(len(drafts), connections))
	if err != nil {
		return err
	}
	defer clients.Close()
	for len(drafts) > 0 {
		requests := make([]load.Request, min(len(drafts), portion))
		if err := onAllProcessors(len(requests), func(i int) (err error) {
			requests[i], err = drafts[i].sign(host)
			return err
		}); err != nil {
			return err
		}
		done, err := clients.Run(requests, limit, 1)
		if err != nil {
			return err
		}
		if done.Requests() != len(requests) {
			return fmt.Errorf("%d requests were not answered in %v", len(requests), limit)
		}
		if _, err := done.Verify(); err != nil {
			return err
		}
		drafts = drafts[len(requests):]
	}
	return nil
}
