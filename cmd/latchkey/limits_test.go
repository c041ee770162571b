package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/client"
	"latchkey/internal/chain/eth"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/testkit"
)

// TestLimitsThroughKills: 64 clients ask for 10 USDC each under a limit of 100,
// while the servers are killed again and again. Of a day's limit exactly ten pass,
// whatever was under way when a server died; of a limit for a second more pass when
// it has passed, and no sum that was recorded is above 100. On SQLite, and on
// PostgreSQL with two servers.
// LATCHKEY_TEST_REQUESTS makes it longer: make limits.
func TestLimitsThroughKills(t *testing.T) {
	t.Parallel()
	requests := testkit.Number(t, "LATCHKEY_TEST_REQUESTS", 128)
	for name, store := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:latchkey.db" },
		"postgres": func() string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLimitedProgram(t, store())
			if name == "postgres" {
				l.addNode()
			}
			for i := range l.nodes {
				l.nodes[i].process = l.start(i)
			}
			l.setUp()
			if passed := l.hammer("daily", requests, 0); passed != 10 {
				t.Errorf("%d payments passed under the limit of a day, want 10", passed)
			}
			burst := l.hammer("burst", 0, 25)
			if burst < 25 {
				t.Errorf("%d payments passed under the limit of a second, want 25 or more", burst)
			}
			l.checkEntries(map[string]int64{"daily": 10, "burst": burst})
		})
	}
}

// limitedProgram is an organization with limits, and the servers that serve it.
type limitedProgram struct {
	*program
	nodes []*limitedNode
	payer string
	users map[string]string // agents, by the limit that they are under
	nonce atomic.Uint64
}

type limitedNode struct {
	url, config string
	process     *exec.Cmd
}

func newLimitedProgram(t *testing.T, store string) *limitedProgram {
	t.Helper()
	p := newHookProgram(t, store)
	return &limitedProgram{program: p, users: map[string]string{}, nodes: []*limitedNode{{url: p.url, config: p.path("latchkey.yaml")}}}
}

// addNode adds a server with the same store and the same keys.
func (l *limitedProgram) addNode() {
	l.t.Helper()
	text, err := os.ReadFile(l.nodes[0].config)
	if err != nil {
		l.t.Fatal(err)
	}
	listen := testkit.Reserve(l.t)
	node := &limitedNode{url: "http://" + listen, config: l.path("second.yaml")}
	text = bytes.Replace(text, []byte(strings.TrimPrefix(l.url, "http://")), []byte(listen), 1)
	if err := os.WriteFile(node.config, text, 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.nodes = append(l.nodes, node)
}

func (l *limitedProgram) start(i int) *exec.Cmd {
	l.t.Helper()
	cmd := exec.Command("latchkey", "serve", "--config", l.nodes[i].config)
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	testkit.Until(l.t, "the server answers", func() bool { return answers(l.nodes[i].url) })
	return cmd
}

// submit returns the first element of the list that the result has, if any.
func (l *limitedProgram) submit(operation, body string) string {
	l.t.Helper()
	text := fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":%s}`,
		"ACTIVITY_TYPE_"+strings.ToUpper(operation), time.Now().UnixMilli(), l.organization, body)
	path := strings.TrimSuffix(strings.TrimSuffix(operation, "_v3"), "_v2")
	answer, err := l.client().Post(l.t.Context(), "/public/v1/submit/"+path, []byte(text))
	if err != nil {
		l.t.Fatalf("%s: %v", operation, err)
	}
	var reply struct {
		Activity struct {
			Status string                    `json:"status"`
			Result map[string]map[string]any `json:"result"`
		} `json:"activity"`
	}
	if err := json.Unmarshal(answer, &reply); err != nil || reply.Activity.Status != "ACTIVITY_STATUS_COMPLETED" {
		l.t.Fatalf("%s: %v: %s", operation, err, answer)
	}
	for _, result := range reply.Activity.Result {
		for _, value := range result {
			if list, ok := value.([]any); ok && len(list) > 0 {
				return fmt.Sprint(list[0])
			}
		}
	}
	return ""
}

const limitedToken = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"

// setUp makes the wallet, and for each limit an agent who is under it.
func (l *limitedProgram) setUp() {
	l.t.Helper()
	l.payer = l.submit("create_wallet", `{"walletName":"Hot","accounts":[{"curve":"CURVE_SECP256K1","pathFormat":"PATH_FORMAT_BIP32","path":"m/44'/60'/0'/0/0","addressFormat":"ADDRESS_FORMAT_ETHEREUM"}]}`)
	for limit, seconds := range map[string]string{"daily": "86400", "burst": "1"} {
		public := strings.TrimSpace(l.run("keygen", "--out", l.path(limit)))
		l.users[limit] = l.submit("create_users_v3", fmt.Sprintf(`{"users":[{"userName":%q,"apiKeys":[{"apiKeyName":"k","publicKey":%q,"curveType":"API_KEY_CURVE_P256"}],"authenticators":[],"oauthProviders":[],"userTags":[]}]}`, limit, public))
		l.submit("create_velocity_control", fmt.Sprintf(`{"name":%q,"identifier":%q,
			"dataSource":{"chainAssetTransfer":{"definition":[{"caip19":"eip155:8453/erc20:%s","decimals":"6"}]}},
			"aggregation":{"method":"VELOCITY_CONTROL_AGGREGATION_METHOD_SUM","operator":"VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL",
				"threshold":"100","window":{"rolling":{"duration":%q}},"groupBy":{"user":{}}}}`, limit, limit, limitedToken, seconds))
		l.submit("create_policy_v3", fmt.Sprintf(`{"policyName":%q,"effect":"EFFECT_ALLOW","consensus":"approvers.any(user, user.id == '%s')","condition":"activity.kind == 'SIGN_TRANSACTION' && controls.%s","notes":""}`,
			limit, l.users[limit], limit))
	}
}

// agent is a client of a node with the key of the agent who is under a limit.
func (l *limitedProgram) agent(limit string, node int) *client.Client {
	l.t.Helper()
	text, err := os.ReadFile(l.path(limit))
	if err != nil {
		l.t.Fatal(err)
	}
	key, err := client.ParseKeyFile(string(text))
	if err != nil {
		l.t.Fatal(err)
	}
	return &client.Client{BaseURL: l.nodes[node].url, Stamper: key.Stamper(), OrganizationID: l.organization}
}

// payment is a request for 10 USDC, each time another.
func (l *limitedProgram) payment() []byte {
	token, _ := hex.DecodeString(limitedToken[2:])
	data, _ := hex.DecodeString("a9059cbb" + strings.Repeat("0", 24) + strings.Repeat("11", 20))
	to := eth.Address(token)
	tx := &eth.Tx{
		Type: eth.DynamicFee, ChainID: big.NewInt(8453), Nonce: l.nonce.Add(1), Gas: 60_000, To: &to, Value: new(big.Int),
		Data: append(data, big.NewInt(10_000_000).FillBytes(make([]byte, 32))...), MaxFeePerGas: big.NewInt(1), MaxPriorityFeePerGas: big.NewInt(1),
	}
	return fmt.Appendf(nil, `{"type":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","timestampMs":"%d","organizationId":%q,"parameters":{"signWith":%q,"type":"TRANSACTION_TYPE_ETHEREUM","unsignedTransaction":%q}}`,
		time.Now().UnixMilli(), l.organization, l.payer, hex.EncodeToString(tx.Encode()))
}

// hammer lets 64 clients ask, so many times or until so many have passed, while
// the servers are killed in turns, and returns how many passed. A request without
// an answer is sent again, byte for byte, until it has one.
func (l *limitedProgram) hammer(limit string, requests int, until int64) int64 {
	l.t.Helper()
	var asked, passed, answered atomic.Int64
	more := func() bool {
		if until > 0 {
			return passed.Load() < until
		}
		return asked.Add(1) <= int64(requests)
	}
	var clients sync.WaitGroup
	for i := range 64 {
		agent := l.agent(limit, i%len(l.nodes))
		clients.Go(func() {
			for more() {
				body := l.payment()
				testkit.Until(l.t, "the payment is answered", func() bool {
					_, err := agent.Post(context.Background(), "/public/v1/submit/sign_transaction", body)
					var refused *client.Error
					switch {
					case err == nil:
						passed.Add(1)
					case !errors.As(err, &refused) || refused.Status >= http.StatusInternalServerError || refused.Status == http.StatusTooManyRequests:
						return false
					case refused.Status != http.StatusForbidden:
						l.t.Errorf("%v", err)
					}
					return true
				})
				answered.Add(1)
			}
		})
	}
	done := make(chan struct{})
	go func() { clients.Wait(); close(done) }()
	for kills := 0; ; kills++ {
		seen := answered.Load()
		testkit.Until(l.t, "some were answered", func() bool {
			select {
			case <-done:
				return true
			default:
				return answered.Load() >= seen+16
			}
		})
		select {
		case <-done:
			if kills == 0 {
				l.t.Errorf("%s: no server was killed", limit)
			}
			return passed.Load()
		default:
		}
		node := kills % len(l.nodes)
		kill(l.t, l.nodes[node].process)
		l.nodes[node].process = l.start(node)
	}
}

// checkEntries reads what the limits had when each payment that passed was counted:
// no sum is above the limit, and the entries are numbered without gap, one for each.
func (l *limitedProgram) checkEntries(passed map[string]int64) {
	l.t.Helper()
	numbers := map[string]map[string]bool{}
	for _, a := range l.payments() {
		reply, err := l.client().GetPolicyEvaluations(l.t.Context(), client.GetPolicyEvaluationsRequest{ActivityID: a.ID})
		if err != nil {
			l.t.Fatal(err)
		}
		for _, vote := range reply.PolicyEvaluations {
			for _, c := range vote.Controls {
				if after, ok := new(big.Rat).SetString(c.After); c.Identifier == l.limitOf(a) && (!ok || after.Cmp(big.NewRat(100, 1)) > 0) {
					l.t.Errorf("%s had %q with payment %s", c.Identifier, c.After, a.ID)
				}
				if c.Number == "" || c.Identifier != l.limitOf(a) {
					continue
				}
				if numbers[c.Identifier] == nil {
					numbers[c.Identifier] = map[string]bool{}
				}
				numbers[c.Identifier][c.Number] = true
			}
		}
	}
	for limit, count := range passed {
		for n := int64(1); n <= count; n++ {
			if !numbers[limit][strconv.FormatInt(n, 10)] {
				l.t.Errorf("%s: no payment is entry %d of %d", limit, n, count)
			}
		}
		if int64(len(numbers[limit])) != count {
			l.t.Errorf("%s: %d entries, and %d payments passed", limit, len(numbers[limit]), count)
		}
	}
}

// payments are all that passed.
func (l *limitedProgram) payments() (all []client.Activity) {
	l.t.Helper()
	page := client.Pagination{Limit: 100}
	for {
		reply, err := l.client().ListActivities(l.t.Context(), client.ListActivitiesRequest{
			FilterByStatus: []client.ActivityStatus{"ACTIVITY_STATUS_COMPLETED"},
			FilterByType:   []string{"ACTIVITY_TYPE_SIGN_TRANSACTION_V2"}, PaginationOptions: &page,
		})
		if err != nil {
			l.t.Fatal(err)
		}
		all = append(all, reply.Activities...)
		if len(reply.Activities) < 100 {
			return all
		}
		page.After = reply.Activities[99].ID
	}
}

// limitOf is the limit that the submitter of a payment is under.
func (l *limitedProgram) limitOf(a client.Activity) string {
	for limit, user := range l.users {
		if len(a.Votes) > 0 && a.Votes[0].UserID == user {
			return limit
		}
	}
	return ""
}
