package ops_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
)

func allowPolicy(name, condition, consensus string) m {
	return m{"policyName": name, "effect": "EFFECT_ALLOW", "condition": condition, "consensus": consensus, "notes": ""}
}

func TestPolicies(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		created := s.Root.Submit(t, "create_policies", m{"policies": []any{
			m{"policyName": "one", "effect": "EFFECT_ALLOW", "condition": "activity.resource == 'WALLET'", "consensus": "approvers.count() >= 2", "notes": "n", "time": "time.now > Timestamp('2020-01-01T00:00:00Z')"},
			m{"policyName": "two (\"quoted\" <b>)", "effect": "EFFECT_DENY", "notes": ""},
		}})
		ids := created.Get("result", "createPoliciesResult", "policyIds").List()
		list := s.Root.Query(t, "list_policies", nil).Get("policies").List()
		if len(list) != 2 || list[0].Get("policyId").Text() != ids[0].Text() || list[0].Get("notes").Text() != "n" ||
			!strings.HasPrefix(list[0].Get("time").Text(), "time.now") || list[1].Get("consensus").Text() != "" || list[1].Has("time") {
			t.Errorf("policies: %v", list)
		}
		if got := s.Root.Query(t, "get_policy", m{"policyId": ids[1].Text()}).Get("policy", "effect").Text(); got != "EFFECT_DENY" {
			t.Errorf("effect %s", got)
		}
		updated := s.Root.Submit(t, "update_policy", m{"policyId": ids[0].Text(), "policyConsensus": "approvers.count() >= 1"})
		if updated.Get("result", "updatePolicyResultV2", "policyId").Text() != ids[0].Text() {
			t.Errorf("result: %v", updated.Get("result"))
		}
		changed := s.Root.Query(t, "get_policy", m{"policyId": ids[0].Text()}).Get("policy")
		if changed.Get("consensus").Text() != "approvers.count() >= 1" || changed.Get("condition").Text() != "activity.resource == 'WALLET'" || changed.Get("policyName").Text() != "one" {
			t.Errorf("policy: %v", changed)
		}
		first := s.Root.MustPost(t, "update_policy", s.Root.BodyOf(t, "ACTIVITY_TYPE_UPDATE_POLICY", m{"policyId": ids[0].Text(), "policyName": "renamed"})).Get("activity")
		if first.Get("result", "updatePolicyResult", "policyId").Text() != ids[0].Text() {
			t.Errorf("version 1: %v", first)
		}
		// An empty text removes; what is left must still have a bound.
		s.Root.Submit(t, "update_policy", m{"policyId": ids[0].Text(), "policyConsensus": "", "policyNotes": ""})
		s.Root.Refused(t, http.StatusBadRequest, "update_policy", m{"policyId": ids[0].Text(), "policyCondition": ""})
		changed = s.Root.Query(t, "get_policy", m{"policyId": ids[0].Text()}).Get("policy")
		if changed.Get("consensus").Text() != "" || changed.Get("notes").Text() != "" || changed.Get("condition").Text() != "activity.resource == 'WALLET'" {
			t.Errorf("policy: %v", changed)
		}
		// Deleting is all or nothing.
		s.Root.Refused(t, http.StatusNotFound, "delete_policies", m{"policyIds": []any{ids[0].Text(), s.Root.UserID}})
		s.Root.Submit(t, "delete_policy", m{"policyId": ids[1].Text()})
		s.Root.Submit(t, "delete_policies", m{"policyIds": []any{ids[0].Text()}})
		if n := len(s.Root.Query(t, "list_policies", nil).Get("policies").List()); n != 0 {
			t.Errorf("%d policies", n)
		}
		s.Root.Refused(t, http.StatusNotFound, "get_policy", m{"policyId": ids[0].Text()})
	})
}

func TestPolicyRefusals(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		s.Root.Submit(t, "create_policy", allowPolicy("taken", "activity.resource == 'WALLET'", ""))
		for name, c := range map[string]struct {
			status      int
			params      m
			field, part string
		}{
			"double quotes":         {400, allowPolicy("x", `activity.type == "x"`, ""), "condition", "invalid policy condition"},
			"unknown field":         {400, allowPolicy("x", "wallet_account.path == 'x'", ""), "condition", "invalid policy condition"},
			"unknown root":          {400, allowPolicy("x", "activty.type == 'x'", ""), "condition", "activity"},
			"consensus in time":     {400, m{"policyName": "x", "effect": "EFFECT_ALLOW", "condition": "true", "time": "approvers.count() > 1", "notes": ""}, "time", "invalid policy time"},
			"a quoted number":       {400, allowPolicy("x", "eth.tx.chain_id == '8453'", ""), "condition", "8453"},
			"gasPrice":              {400, allowPolicy("x", "eth.tx.gasPrice < 5", ""), "condition", "gas_price"},
			"no bool":               {400, allowPolicy("x", "eth.tx.value", ""), "condition", "expected true or false"},
			"everything to all":     {400, allowPolicy("x", "", ""), "effect", "everything to everyone"},
			"a consensus that errs": {400, allowPolicy("x", "", "approvers.any(u, u.age > 5)"), "consensus", "invalid policy consensus"},
			"a taken name":          {409, allowPolicy("taken", "true", ""), "", "policy label must be unique"},
		} {
			t.Run(name, func(t *testing.T) {
				refusal := s.Root.Refused(t, c.status, "create_policy", c.params)
				if !strings.Contains(refusal.String(), c.part) || c.field != "" && !strings.Contains(refusal.Get("details", 1).String(), c.field) {
					t.Errorf("refusal: %v", refusal)
				}
			})
		}
		// One bad policy among several creates none.
		s.Root.Refused(t, http.StatusBadRequest, "create_policies", m{"policies": []any{allowPolicy("good", "true", ""), allowPolicy("bad", "nonsense", "")}})
		s.Root.Refused(t, http.StatusConflict, "create_policies", m{"policies": []any{allowPolicy("good", "true", ""), allowPolicy("good", "true", "")}})
		id := s.Root.Query(t, "list_policies", nil).Get("policies", 0, "policyId").Text()
		s.Root.Refused(t, http.StatusBadRequest, "update_policy", m{"policyId": id, "policyCondition": "nonsense"})
		s.Root.Refused(t, http.StatusNotFound, "update_policy", m{"policyId": s.Root.UserID, "policyCondition": "true"})
		if got := s.Root.Query(t, "list_policies", nil).Get("policies").List(); len(got) != 1 || got[0].Get("condition").Text() != "activity.resource == 'WALLET'" {
			t.Errorf("policies: %v", got)
		}
	})
}

// TestSelectors creates policies as the oldest clients do.
func TestSelectors(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		one := func(kind string, params m) string {
			return s.Root.MustPost(t, "create_policy", s.Root.BodyOf(t, kind, params)).Get("activity", "result", "createPolicyResult", "policyId").Text()
		}
		id := one("ACTIVITY_TYPE_CREATE_POLICY", m{"policyName": "v1", "effect": "EFFECT_ALLOW", "notes": "old", "selectors": []any{
			m{"subject": "activity.resource", "operator": "OPERATOR_EQUAL", "target": "WALLET"},
			m{"subject": "approvers.id", "operator": "OPERATOR_EQUAL", "target": ada.UserID},
		}})
		got := s.Root.Query(t, "get_policy", m{"policyId": id}).Get("policy")
		if got.Get("condition").Text() != "activity.resource == 'WALLET'" || got.Get("consensus").Text() != fmt.Sprintf("approvers.any(user, user.id == '%s')", ada.UserID) {
			t.Errorf("policy: %v", got)
		}
		ada.Submit(t, "create_wallet", m{"walletName": "Ada's", "accounts": []any{}})
		id = one("ACTIVITY_TYPE_CREATE_POLICY_V2", m{"policyName": "v2", "effect": "EFFECT_DENY", "selectors": []any{
			m{"subject": "activity.action", "operator": "OPERATOR_IN", "targets": []any{"CREATE", "DELETE"}},
			m{"subject": "eth.tx.value", "operator": "OPERATOR_MORE_THAN_OR_EQUAL", "targets": []any{"5"}},
		}})
		if got := s.Root.Query(t, "get_policy", m{"policyId": id}).Get("policy", "condition").Text(); got != "activity.action in ['CREATE', 'DELETE'] && eth.tx.value >= 5" {
			t.Errorf("condition: %s", got)
		}
		for name, selector := range map[string]m{
			"a value that ends the string": {"subject": "activity.type", "operator": "OPERATOR_EQUAL", "targets": []any{"x' || true || 'x' == 'x"}},
			"an unknown field":             {"subject": "activity.nosuch", "operator": "OPERATOR_EQUAL", "targets": []any{"x"}},
			"an expression as a field":     {"subject": "true || activity.type", "operator": "OPERATOR_EQUAL", "targets": []any{"x"}},
			"two values":                   {"subject": "activity.type", "operator": "OPERATOR_EQUAL", "targets": []any{"x", "y"}},
		} {
			body := s.Root.BodyOf(t, "ACTIVITY_TYPE_CREATE_POLICY_V2", m{"policyName": "bad", "effect": "EFFECT_ALLOW", "selectors": []any{selector}})
			if reply := s.Root.Post(t, "create_policy", body); reply.Status != http.StatusBadRequest {
				t.Errorf("%s: HTTP %d: %s", name, reply.Status, reply.Body)
			}
		}
	})
}

// TestFindings gives advice when a policy is written.
func TestFindings(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		codes := func(p m) (found []string) {
			result := s.Root.Submit(t, "create_policy", p).Get("result", "createPolicyResult")
			if !result.Has("findings") {
				return nil
			}
			for _, f := range result.Get("findings").List() {
				found = append(found, f.Get("code").Text())
			}
			return found
		}
		for name, c := range map[string]struct {
			policy m
			want   string
		}{
			"never true":         {allowPolicy("a", "activity.type == 'a' && activity.type == 'b'", ""), "never_true"},
			"too many approvals": {allowPolicy("b", "", "approvers.count() >= 5"), "too_many_approvals"},
			"an unknown user":    {allowPolicy("c", "", "approvers.any(u, u.id == '0192f3c4-5b6a-7c8d-9e0f-1a2b3c4d5e6f')"), "unknown_user"},
			"a mistyped address": {allowPolicy("d", "eth.tx.to == '0x08d2b0a37F869FF76BACB5Bab3278E26ab7067b7'", ""), "bad_checksum"},
			"a mistyped kind":    {allowPolicy("e", "activity.kind == 'SIGN_RAW_PAYLOADD'", ""), "unknown_value"},
			"a mistyped type":    {allowPolicy("f", "activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V9'", ""), "unknown_value"},
			"a mistyped action":  {allowPolicy("g", "activity.action == 'SING'", ""), "unknown_value"},
			"a mistyped format":  {allowPolicy("h", "wallet_account.address_format == 'ADDRESS_FORMAT_ETHERUM'", ""), "unknown_value"},
			"a mistyped curve":   {allowPolicy("i", "wallet_account.curve == 'CURVE_SECP256'", ""), "unknown_value"},
			"a mistyped param":   {allowPolicy("j", "activity.params.encoding == 'EIP712'", ""), "unknown_value"},
			"a mistyped passkey": {allowPolicy("k", "", "credentials.any(c, c.type == 'CREDENTIAL_TYPE_PASSKEY')"), "unknown_value"},
			"one version":        {m{"policyName": "l", "effect": "EFFECT_DENY", "condition": "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'", "notes": ""}, "single_version"},
			"everything":         {allowPolicy("m", "true", ""), "allows_everything"},
		} {
			if got := codes(c.policy); !slices.Contains(got, c.want) {
				t.Errorf("%s: %v", name, got)
			}
		}
		if got := codes(allowPolicy("fine", "activity.type == 'ACTIVITY_TYPE_CREATE_WALLET'", "approvers.count() >= 1")); got != nil {
			t.Errorf("a sound policy: %v", got)
		}
	})
}

// TestFactsOfRequests lets policies see what a request does, through HTTP.
func TestFactsOfRequests(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		wallet := s.Root.Submit(t, "create_wallet", m{"walletName": "main", "accounts": []any{
			ethereumAccount, account("CURVE_ED25519", "m/44'/501'/0'/0'", "ADDRESS_FORMAT_SOLANA"),
		}}).Get("result", "createWalletResult")
		walletID, address := wallet.Get("walletId").Text(), wallet.Get("addresses", 0).Text()
		s.Root.Submit(t, "create_private_keys", m{"privateKeys": []any{m{"privateKeyName": "cold", "curve": "CURVE_SECP256K1", "privateKeyTags": []any{}, "addressFormats": []any{"ADDRESS_FORMAT_ETHEREUM"}}}})
		cold := s.Root.Query(t, "list_private_keys", nil).Get("privateKeys", 0, "privateKeyId").Text()

		const token = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
		s.Root.Submit(t, "create_smart_contract_interface", m{
			"smartContractAddress": token, "type": "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM", "label": "USDC",
			"smartContractInterface": `[{"type":"function","name":"transfer","inputs":[{"name":"to","type":"address"},{"name":"amount","type":"uint256"}],"outputs":[{"name":"","type":"bool"}]}]`,
		})
		const to = "0x1111111111111111111111111111111111111111"
		transfer := func(amount int) string {
			data := "a9059cbb" + strings.Repeat("0", 24) + to[2:] + fmt.Sprintf("%064x", amount)
			return unsignedCall(t, token, data)
		}
		typed := func(amount string) string {
			return fmt.Sprintf(`{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"chainId","type":"uint256"}],"Order":[{"name":"to","type":"address"},{"name":"amount","type":"uint256"}]},`+
				`"primaryType":"Order","domain":{"name":"Market","chainId":1},"message":{"to":%q,"amount":%s}}`, to, amount)
		}
		raw := func(with, payload, encoding string) m {
			return m{"signWith": with, "payload": payload, "encoding": encoding, "hashFunction": "HASH_FUNCTION_NO_OP"}
		}
		digest := raw(address, strings.Repeat("11", 32), "PAYLOAD_ENCODING_HEXADECIMAL")
		eth := func(tx string) m {
			return m{"signWith": address, "type": "TRANSACTION_TYPE_ETHEREUM", "unsignedTransaction": tx}
		}
		for name, c := range map[string]struct {
			condition           string
			operation           string
			allowed, notAllowed m
		}{
			"amount of a token": {
				fmt.Sprintf("eth.tx.to == '%s' && eth.tx.function_name == 'transfer' && eth.tx.contract_call_args['amount'] <= 100 && eth.tx.contract_call_args['to'] == '%s'", strings.ToLower(token), to),
				"sign_transaction", eth(transfer(100)), eth(transfer(101)),
			},
			"selector by slice": {"eth.tx.data[0..10] == '0xa9059cbb'", "sign_transaction", eth(transfer(5)), eth(unsignedTransfer(t, to))},
			"plain transfers":   {"eth.tx.data == '0x' && eth.tx.value <= 1", "sign_transaction", eth(unsignedTransfer(t, to)), eth(transfer(1))},
			"one wallet":        {fmt.Sprintf("wallet.id == '%s' && wallet_account.address == '%s' && activity.action == 'SIGN'", walletID, address), "sign_raw_payload", digest, raw(cold, strings.Repeat("11", 32), "PAYLOAD_ENCODING_HEXADECIMAL")},
			"one key":           {"private_key.label == 'cold'", "sign_raw_payload", raw(cold, strings.Repeat("11", 32), "PAYLOAD_ENCODING_HEXADECIMAL"), digest},
			"typed data":        {"eth.eip_712.domain.name == 'Market' && eth.eip_712.primary_type == 'Order' && eth.eip_712.message['amount'] < 10", "sign_raw_payload", raw(address, typed("9"), "PAYLOAD_ENCODING_EIP712"), raw(address, typed("10"), "PAYLOAD_ENCODING_EIP712")},
			"encoding":          {"activity.params.encoding == 'PAYLOAD_ENCODING_EIP712'", "sign_raw_payload", raw(address, typed("1"), "PAYLOAD_ENCODING_EIP712"), digest},
			"7702": {
				fmt.Sprintf("eth.eip_7702_authorization.address == '%s' && eth.eip_7702_authorization.chain_id == 1", token), "sign_raw_payload",
				raw(address, fmt.Sprintf(`{"address":%q,"chainId":1,"nonce":0}`, token), "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION"),
				raw(address, fmt.Sprintf(`{"address":%q,"chainId":1,"nonce":0}`, to), "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION"),
			},
		} {
			t.Run(name, func(t *testing.T) {
				p := allowPolicy(name, c.condition, fmt.Sprintf("approvers.any(u, u.id == '%s')", ada.UserID))
				id := s.Root.Submit(t, "create_policy", p).Get("result", "createPolicyResult", "policyId").Text()
				ada.Submit(t, c.operation, c.allowed)
				ada.Refused(t, http.StatusForbidden, c.operation, c.notAllowed)
				s.Root.Submit(t, "delete_policy", m{"policyId": id})
				ada.Refused(t, http.StatusForbidden, c.operation, c.allowed)
			})
		}
		// What cannot be read is refused before it is decided on.
		ada.Refused(t, http.StatusForbidden, "sign_transaction", eth("02ffff")) // no policy is there to look
		s.Root.Submit(t, "create_policy", allowPolicy("any", "eth.tx.value <= 1", ""))
		ada.Refused(t, http.StatusBadRequest, "sign_transaction", eth("02ffff"))
	})
}

// unsignedCall is a call of a contract, by EIP-1559.
func unsignedCall(t testing.TB, to, data string) string {
	t.Helper()
	recipient, err := hex.DecodeString(strings.TrimPrefix(to, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	input, err := hex.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	return unsigned(recipient, 0, input)
}

// TestUnitOfToken: an interface may say in which unit amounts of a token are shown.
func TestUnitOfToken(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		with := func(more m) m {
			params := m{
				"smartContractAddress": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "type": "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
				"label": "USD Coin", "smartContractInterface": "[]",
			}
			maps.Copy(params, more)
			return params
		}
		for field, bad := range map[string]m{"decimals": {"decimals": "256"}, "decimals ": {"decimals": "06"}, "symbol": {"symbol": "USDC"}} {
			refused := s.Root.Refused(t, http.StatusBadRequest, "create_smart_contract_interface", with(bad))
			if !strings.Contains(refused.Get("message").Text(), strings.TrimSpace(field)) {
				t.Errorf("%v: %v", bad, refused)
			}
		}
		s.Root.Submit(t, "create_smart_contract_interface", with(m{"decimals": "0", "symbol": "USDC"}))
		s.Root.Submit(t, "create_smart_contract_interface", with(nil))
		list := s.Root.Query(t, "list_smart_contract_interfaces", nil).Get("smartContractInterfaces")
		if got := list.Get(0); got.Get("decimals").Text() != "0" || got.Get("symbol").Text() != "USDC" {
			t.Errorf("the unit is %v", got)
		}
		if got := list.Get(1); got.Has("decimals") || got.Has("symbol") {
			t.Errorf("a unit that was not given is %v", got)
		}
	})
}
