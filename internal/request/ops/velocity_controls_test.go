package ops_test

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/chain/eth"
	"latchkey/internal/server/config"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

const (
	usdc     = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
	usdcName = "eip155:1/erc20:" + usdc
)

// control are the parameters of a limit on USDC.
func control(identifier, threshold string, change ...func(m)) m {
	p := m{
		"name": "Limit " + identifier, "identifier": identifier,
		"dataSource": m{"chainAssetTransfer": m{"definition": []m{{"caip19": usdcName, "decimals": "6"}}}},
		"aggregation": m{
			"method": "VELOCITY_CONTROL_AGGREGATION_METHOD_SUM", "operator": "VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL",
			"threshold": threshold, "window": m{"rolling": m{"duration": "86400"}}, "groupBy": m{"organization": m{}},
		},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

// aggregating changes a member of the aggregation.
func aggregating(member string, value any) func(m) {
	return func(p m) { p["aggregation"].(m)[member] = value }
}

// limited is an organization in which an agent may sign under a condition.
type limited struct {
	*Server
	root, agent   *Caller
	wallet, payer string
}

func newLimited(t *testing.T, s *Server, condition string, controls ...m) *limited {
	t.Helper()
	l := &limited{Server: s, root: s.Root}
	for _, c := range controls {
		l.root.Submit(t, "create_velocity_control", c)
	}
	l.agent = s.NewUser(t, l.root, "Agent", client.P256)
	created := l.root.Submit(t, "create_wallet", m{"walletName": "Hot", "accounts": []m{{
		"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0", "addressFormat": "ADDRESS_FORMAT_ETHEREUM",
	}}}).Get("result", "createWalletResult")
	l.wallet, l.payer = created.Get("walletId").Text(), created.Get("addresses", 0).Text()
	l.root.Submit(t, "create_policy", m{"policyName": "Limited", "effect": "EFFECT_ALLOW", "condition": condition, "notes": ""})
	return l
}

var nonces atomic.Uint64

// pay is an unsigned transfer of so many millionths of USDC, each time another.
func (l *limited) pay(millionths int64) m { return l.call(1, tokenCall("a9059cbb", millionths)) }

func tokenCall(selector string, amount int64) []byte {
	data, _ := hex.DecodeString(selector + strings.Repeat("0", 24) + strings.Repeat("11", 20))
	return append(data, big.NewInt(amount).FillBytes(make([]byte, 32))...)
}

func (l *limited) call(chain int64, data []byte) m {
	to := eth.Address(mustHex(usdc[2:]))
	tx := &eth.Tx{
		Type: eth.DynamicFee, ChainID: big.NewInt(chain), Nonce: nonces.Add(1), Gas: 60_000, To: &to, Data: data,
		Value: new(big.Int), MaxFeePerGas: big.NewInt(1), MaxPriorityFeePerGas: big.NewInt(1),
	}
	return transaction(l.payer, "ETHEREUM", hex.EncodeToString(tx.Encode()))
}

// authorization is typed data of EIP-3009.
func (l *limited) authorization(value string) m {
	document := `{"domain":{"name":"USD Coin","version":"2","chainId":1,"verifyingContract":"` + usdc + `"},
		"primaryType":"TransferWithAuthorization","types":{"TransferWithAuthorization":[
			{"name":"from","type":"address"},{"name":"to","type":"address"},{"name":"value","type":"uint256"},
			{"name":"validAfter","type":"uint256"},{"name":"validBefore","type":"uint256"},{"name":"nonce","type":"bytes32"}]},
		"message":{"from":"` + l.payer + `","to":"` + usdc + `","value":"` + value + `","validAfter":0,"validBefore":1,
			"nonce":"0x` + strings.Repeat("00", 32) + `"}}`
	return m{"signWith": l.payer, "payload": document, "encoding": "PAYLOAD_ENCODING_EIP712", "hashFunction": "HASH_FUNCTION_NO_OP"}
}

func mustHex(digits string) []byte {
	raw, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return raw
}

// counted is what a control has, by its identifier.
func (l *limited) counted(t *testing.T, identifier string) Value {
	t.Helper()
	reply := l.root.PostTo(t, "/latchkey/v1/controls", m{"organizationId": l.root.OrganizationID, "identifier": identifier})
	if reply.Status != http.StatusOK {
		t.Fatalf("controls: HTTP %d: %s", reply.Status, reply.Body)
	}
	return reply.JSON(t).Get("controls", 0)
}

func (l *limited) wantUsed(t *testing.T, identifier, used, left string) {
	t.Helper()
	c := l.counted(t, identifier)
	if len(c.Get("groups").List()) == 0 {
		if used != "0" {
			t.Errorf("%s has counted nothing, want %s", identifier, used)
		}
		return
	}
	if g := c.Get("groups", 0); g.Get("used").Text() != used || left != "" && g.Get("left").Text() != left {
		t.Errorf("%s has %v, want %s used and %s left", identifier, g, used, left)
	}
}

func TestVelocityControls(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		l := newLimited(t, s, "controls.daily && eth.tx.chain_id == 1", control("daily", "100"))
		signed := l.agent.Submit(t, "sign_transaction", l.pay(60_000_000))
		l.wantUsed(t, "daily", "60", "40")
		refusal := l.agent.Refused(t, http.StatusForbidden, "sign_transaction", l.pay(40_000_001))
		if !strings.Contains(refusal.Get("message").Text(), "sufficient permissions") {
			t.Error(refusal)
		}
		l.wantUsed(t, "daily", "60", "40") // what is refused counts nothing
		l.agent.Submit(t, "sign_transaction", l.pay(40_000_000))
		l.wantUsed(t, "daily", "100", "0")
		// The root quorum passes every policy, and counts all the same.
		l.root.Submit(t, "sign_transaction", l.pay(500_000))
		l.wantUsed(t, "daily", "100.5", "0")
		// Another chain's and another token's transfers add nothing.
		l.root.Submit(t, "sign_transaction", l.call(10, tokenCall("a9059cbb", 1)))
		l.wantUsed(t, "daily", "100.5", "0")
		// An allowance counts in full.
		l.root.Submit(t, "sign_transaction", l.call(1, tokenCall("095ea7b3", 1_500_000)))
		l.wantUsed(t, "daily", "102", "0")

		// So does what an x402 payment signs.
		l.root.Submit(t, "sign_raw_payload", l.authorization("1000000"))
		l.wantUsed(t, "daily", "103", "0")

		evaluations := l.root.Query(t, "get_policy_evaluations", m{"organizationId": l.root.OrganizationID, "activityId": signed.Get("id").Text()})
		c := evaluations.Get("policyEvaluations", 0, "controls", 0)
		if c.Get("used").Text() != "0" || c.Get("after").Text() != "60" || c.Get("holds").Any != true || c.Get("number").Text() != "1" || c.Get("left").Text() != "100" {
			t.Errorf("the evaluation says %v", c)
		}
	})
}

// TestControlsErr: what cannot be read does not pass, and is counted as unread if
// another rule lets it pass.
func TestControlsErr(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		l := newLimited(t, s, "controls.daily", control("daily", "100"))
		raw := m{"signWith": l.payer, "payload": strings.Repeat("11", 32), "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP"}
		unknown := l.call(1, []byte{1, 2, 3, 4})
		for operation, p := range map[string]m{"sign_raw_payload": raw, "sign_transaction": unknown} {
			l.agent.Refused(t, http.StatusForbidden, operation, p)
			l.root.Submit(t, operation, p)
		}
		if got := l.counted(t, "daily").Get("unreadable").Text(); got != "2" {
			t.Errorf("%s activities were not read, want 2", got)
		}
		l.wantUsed(t, "daily", "0", "")
		// A DENY that cannot be told denies.
		l.root.Submit(t, "create_policy", m{"policyName": "No more", "effect": "EFFECT_DENY", "condition": "!controls.daily", "notes": ""})
		l.root.Submit(t, "create_policy", m{"policyName": "All", "effect": "EFFECT_ALLOW", "condition": "activity.action == 'SIGN'", "notes": ""})
		if got := l.agent.Refused(t, http.StatusForbidden, "sign_raw_payload", raw).Get("message").Text(); got != "policy engine denied request explicitly" {
			t.Error(got)
		}
		l.agent.Submit(t, "sign_transaction", l.pay(100_000_000))
		l.agent.Refused(t, http.StatusForbidden, "sign_transaction", l.pay(1))
	})
}

// TestControlGroups: groups have sums of their own.
func TestControlGroups(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		l := newLimited(t, s, "controls.per_user && controls.per_wallet && controls.often && eth.tx.chain_id == 1",
			control("per_user", "100", aggregating("groupBy", m{"user": m{}})),
			control("per_wallet", "150", aggregating("groupBy", m{"wallet": m{}}), aggregating("window", m{"calendar": m{"unit": "MONTH", "timezone": "Europe/Zurich"}})),
			control("often", "3", aggregating("method", "VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT"), aggregating("window", m{"infinite": m{}})),
		)
		other := s.NewUser(t, l.root, "Other", client.P256)
		l.agent.Submit(t, "sign_transaction", l.pay(100_000_000))
		l.agent.Refused(t, http.StatusForbidden, "sign_transaction", l.pay(1))
		other.Submit(t, "sign_transaction", l.pay(50_000_000))
		other.Refused(t, http.StatusForbidden, "sign_transaction", l.pay(1))
		groups := l.counted(t, "per_user").Get("groups").List()
		if len(groups) != 2 || l.counted(t, "per_wallet").Get("groups", 0, "groupId").Text() != l.wallet {
			t.Errorf("groups %v", groups)
		}
		for _, g := range groups {
			if want := map[string]string{l.agent.UserID: "100", other.UserID: "50"}[g.Get("groupId").Text()]; g.Get("used").Text() != want || !g.Has("nextMs") {
				t.Errorf("%v, want %s", g, want)
			}
		}
		if l.wantUsed(t, "often", "2", "1"); l.counted(t, "often").Get("groups", 0).Has("nextMs") {
			t.Error("what never leaves has a time to leave")
		}
		page := l.root.PostTo(t, "/latchkey/v1/controls", m{"organizationId": l.root.OrganizationID, "limit": "1"}).JSON(t)
		seen := 0
		for {
			for _, c := range page.Get("controls").List() {
				seen += len(c.Get("groups").List())
			}
			if page.Get("pageInfo", "hasNextPage").Any != true {
				break
			}
			page = l.root.PostTo(t, "/latchkey/v1/controls", m{
				"organizationId": l.root.OrganizationID, "limit": "1", "after": page.Get("pageInfo", "endCursor").Text(),
			}).JSON(t)
		}
		if seen != 4 {
			t.Errorf("the pages have %d groups, want 4", seen)
		}
	})
}

// TestControlHistory: what a group had is told at as many times as are asked for,
// and of one group only.
func TestControlHistory(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		before := strconv.FormatInt(time.Now().Add(-time.Hour).UnixMilli(), 10)
		l := newLimited(t, s, "controls.daily", control("daily", "100"))
		l.root.Submit(t, "sign_transaction", l.pay(60_000_000))
		ask := func(more m) Reply {
			more["organizationId"] = l.root.OrganizationID
			return l.root.PostTo(t, "/latchkey/v1/controls", more)
		}
		group := ask(m{"identifier": "daily", "groupId": l.root.OrganizationID, "sinceMs": before, "points": "5"}).JSON(t).Get("controls", 0, "groups", 0)
		points := group.Get("history").List()
		if len(points) != 5 || points[0].Get("used").Text() != "0" || points[0].Get("atMs").Text() != before || points[4].Get("used").Text() != "60" || group.Get("used").Text() != "60" {
			t.Errorf("the history is %v", group)
		}
		if groups := ask(m{"identifier": "daily", "groupId": l.agent.UserID}).JSON(t).Get("controls", 0, "groups").List(); len(groups) != 0 {
			t.Errorf("a group without entries is %v", groups)
		}
		for field, bad := range map[string]m{
			"points":  {"identifier": "daily", "points": "5", "sinceMs": before},
			"groupId": {"groupId": l.root.OrganizationID},
			"sinceMs": {"identifier": "daily", "groupId": l.root.OrganizationID, "points": "5"},
		} {
			if reply := ask(bad); reply.Status != http.StatusBadRequest || !strings.Contains(string(reply.Body), field) {
				t.Errorf("%s: HTTP %d: %s", field, reply.Status, reply.Body)
			}
		}
	})
}

// TestControlFrees: an amount that has left the window can be spent again.
func TestControlFrees(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		l := newLimited(t, s, "controls.burst", control("burst", "1", aggregating("window", m{"rolling": m{"duration": "1"}})))
		for range 3 {
			testkit.Until(t, "the window is free", func() bool {
				return l.agent.Post(t, "sign_transaction", l.agent.Body(t, "sign_transaction", l.pay(1_000_000))).Status == http.StatusOK
			})
		}
	})
}

// TestControlAtOnce: a limit of 100 lets exactly ten of a thousand requests for
// 10 pass that come from 64 clients at once.
func TestControlAtOnce(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		l := newLimited(t, s, "controls.daily", control("daily", "100"))
		l.hammer(t, 64, 1000, []*Caller{l.agent}, 10)
		l.wantUsed(t, "daily", "100", "0")
	})
}

// TestControlOnTwoNodes: the same holds for clients of two servers, one of which
// ends in between, and of a third that takes its place.
func TestControlOnTwoNodes(t *testing.T) {
	url := Postgres(t)
	one, two := Start(t, url, config.Default()), Start(t, url, config.Default())
	l := newLimited(t, one, "controls.daily", control("daily", "100"))
	l.hammer(t, 32, 200, []*Caller{l.agent, two.As(l.agent)}, 10)
	two.Stop(t)
	three := Start(t, url, config.Default())
	l.hammer(t, 16, 64, []*Caller{l.agent, three.As(l.agent)}, 0)
	l.wantUsed(t, "daily", "100", "0")
}

// hammer lets clients send requests for 10 USDC each, and counts those that pass.
func (l *limited) hammer(t *testing.T, clients, requests int, agents []*Caller, want int64) {
	t.Helper()
	var passed, refused, left atomic.Int64
	left.Store(int64(requests))
	var wait sync.WaitGroup
	for i := range clients {
		wait.Go(func() {
			agent := agents[i%len(agents)]
			for left.Add(-1) >= 0 {
				switch reply := agent.Post(t, "sign_transaction", agent.Body(t, "sign_transaction", l.pay(10_000_000))); reply.Status {
				case http.StatusOK:
					passed.Add(1)
				case http.StatusForbidden:
					refused.Add(1)
				default:
					t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
				}
			}
		})
	}
	wait.Wait()
	if passed.Load() != want || passed.Load()+refused.Load() != int64(requests) {
		t.Errorf("%d passed and %d were refused, want %d to pass", passed.Load(), refused.Load(), want)
	}
}

// TestControlWaits: an activity that a full window refuses at its last vote keeps
// its votes, and is done when the window is free.
func TestControlWaits(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		l := newLimited(t, s, "activity.type == 'none'", control("hourly", "10", aggregating("window", m{"rolling": m{"duration": "2"}})))
		approver := s.NewUser(t, l.root, "Approver", client.P256)
		l.root.Submit(t, "create_policy", m{
			"policyName": "Two", "effect": "EFFECT_ALLOW", "condition": "controls.hourly", "notes": "",
			"consensus": fmt.Sprintf("approvers.any(u, u.id == '%s') && approvers.any(u, u.id == '%s')", l.agent.UserID, approver.UserID),
		})
		waiting := l.agent.Submit(t, "sign_transaction", l.pay(10_000_000))
		if got := waiting.Get("status").Text(); got != "ACTIVITY_STATUS_CONSENSUS_NEEDED" {
			t.Fatal(got)
		}
		fingerprint := m{"fingerprint": waiting.Get("fingerprint").Text()}
		l.root.Submit(t, "sign_transaction", l.pay(10_000_000)) // fills the window
		approve := func() string { return approver.Submit(t, "approve_activity", fingerprint).Get("status").Text() }
		first := approve()
		testkit.Until(t, "the window is free", func() bool { return approve() == "ACTIVITY_STATUS_COMPLETED" })
		if first != "ACTIVITY_STATUS_CONSENSUS_NEEDED" {
			t.Errorf("with a full window the activity is %s", first)
		}
		done := l.root.Query(t, "get_activity", m{"activityId": waiting.Get("id").Text()}).Get("activity")
		if got := len(done.Get("votes").List()); got != 2 {
			t.Errorf("the activity has %d votes, want one of each", got)
		}
	})
}

func TestControlRefusals(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		l := newLimited(t, s, "controls.daily", control("daily", "100"))
		source := func(value any) func(m) { return func(p m) { p["dataSource"] = value } }
		asset := func(name, decimals string) func(m) {
			return source(m{"chainAssetTransfer": m{"definition": []m{{"caip19": name, "decimals": decimals}}}})
		}
		for want, p := range map[string]m{
			"identifier: must be a name":              control("not-a-name", "1"),
			"definition.0.caip19: names a chain":      control("a", "1", asset("cosmos:hub/slip44:118", "6")),
			"definition.0.caip19: must be a CAIP-19":  control("a", "1", asset("USDC", "6")),
			"definition.0.decimals":                   control("a", "1", asset(usdcName, "256")),
			"aggregation.threshold: must be":          control("a", strings.Repeat("9", 39)),
			"aggregation.window: must have":           control("a", "1", aggregating("window", m{})),
			"aggregation.window.rolling.duration":     control("a", "1", aggregating("window", m{"rolling": m{"duration": "0"}})),
			"aggregation.window.calendar.timezone":    control("a", "1", aggregating("window", m{"calendar": m{"unit": "DAY", "timezone": "Mars"}})),
			"aggregation.groupBy: must have":          control("a", "1", aggregating("groupBy", m{"user": m{}, "wallet": m{}})),
			"aggregation.method: activities":          control("a", "1", source(m{"activityExecution": m{}})),
			"dataSource.chainAssetTransfer.phase: mu": control("a", "1", source(m{"chainAssetTransfer": m{"definition": []m{{"caip19": usdcName, "decimals": "6"}}, "phase": m{"submission": m{}}}})),
		} {
			refusal := l.root.Refused(t, http.StatusBadRequest, "create_velocity_control", p)
			if text := refusal.String(); !strings.Contains(text, want) && !strings.Contains(text, strings.SplitN(want, ": ", 2)[0]) {
				t.Errorf("want %q: %s", want, text)
			}
		}
		l.root.Refused(t, http.StatusConflict, "create_velocity_control", control("daily", "1"))
		l.root.Refused(t, http.StatusBadRequest, "create_policy", m{"policyName": "x", "effect": "EFFECT_ALLOW", "condition": "controls.dialy", "notes": ""})
		l.root.Refused(t, http.StatusBadRequest, "create_session_profile", m{"sessionProfileName": "x", "scope": "controls.daily"})
		list := l.root.Query(t, "list_velocity_controls", m{})
		if n := len(list.Get("velocityControls").List()); n != 1 {
			t.Fatalf("there are %d controls, want 1", n)
		}
		id := list.Get("velocityControls", 0, "velocityControlId").Text()
		inUse := l.root.Refused(t, http.StatusBadRequest, "delete_velocity_control", m{"velocityControlId": id})
		if inUse.Get("code").Number() != 9 || !strings.Contains(inUse.Get("message").Text(), "Limited") {
			t.Error(inUse)
		}
		policies := l.root.Query(t, "list_policies", nil).Get("policies").List()
		l.root.Submit(t, "delete_policy", m{"policyId": policies[0].Get("policyId").Text()})
		l.root.Submit(t, "delete_velocity_control", m{"velocityControlId": id})
		l.root.Refused(t, http.StatusNotFound, "get_velocity_control", m{"velocityControlId": id})
		odd := control("odd", "1", func(p m) {
			p["dataSource"].(m)["chainAssetTransfer"].(m)["filter"] = m{"activity": []m{{"activityType": "ACTIVITY_TYPE_SIGN_TRANSACTOIN_V2"}}}
		})
		created := l.root.Submit(t, "create_velocity_control", odd)
		if got := created.Get("result", "createVelocityControlResult", "findings", 0, "message").Text(); !strings.Contains(got, "did you mean ACTIVITY_TYPE_SIGN_TRANSACTION") {
			t.Error(got)
		}
	})
}
