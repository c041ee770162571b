package audit_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/request/engine"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
	"latchkey/internal/translog"
)

type m = map[string]any

func TestMain(t *testing.M) { os.Exit(pgtest.Main(t)) }

// world is an installation with a bit of everything, and what an attacker has kept
// of it from earlier.
type world struct {
	t                        testing.TB
	url                      string
	db                       *database
	server                   *servertest.Server
	root, ada, bob, stranger *servertest.Caller
	owner                    *servertest.Caller // of the sub-organization
	deny, wallet, address    string
	tag, child, signed       string // a tag of private keys, a sub-organization, an activity that signed
	pending, decided         servertest.Value
	earlier, now             tables
	logKeys                  translog.Keys
}

// newWorld makes one, and stops its server.
func newWorld(t testing.TB, storeURL string) *world {
	t.Helper()
	w := &world{t: t, url: storeURL, db: openDatabase(t, storeURL)}
	w.server = servertest.Start(t, storeURL, config.Default())
	w.root = w.server.Root
	w.ada = w.server.NewUser(t, w.root, "Ada", client.P256)
	w.bob = w.server.NewUser(t, w.root, "Bob", client.Ed25519)
	w.stranger = w.server.CreateOrganization(t, "Another organization")
	w.policies()
	w.keys()
	w.published()
	w.earlier = w.db.read()
	w.later()
	w.published()
	w.server.Stop(t)
	w.now = w.db.read()
	return w
}

// published waits until all that was done is in a checkpoint.
func (w *world) published() {
	keys := w.server.Keys.LogKeys.VerifierKeys()
	testkit.Until(w.t, "the log is published", func() bool {
		all := w.db.read()
		it, ok := all.get(store.LogOrganization, store.LogCheckpoint, "newest")
		if !ok {
			return false
		}
		signed, err := translog.OpenCheckpoint(it.body[17:], keys, nil) // behind the mark
		return err == nil && signed.Size == int64(len(all.log))
	})
	w.logKeys = keys
}

// settled waits until every entry is in a tree and in a checkpoint of its epoch: the
// receipt of the newest activity says so.
func (w *world) settled() {
	var newest string
	for _, a := range w.server.As(w.root).Query(w.t, "list_activities", nil).Get("activities").List() {
		newest = max(newest, a.Get("id").Text())
	}
	testkit.Until(w.t, "the newest activity has a receipt", func() bool {
		return w.server.As(w.root).PostTo(w.t, "/latchkey/v1/receipt", m{"organizationId": w.root.OrganizationID, "activityId": newest}).Status == 200
	})
}

func (w *world) policies() {
	allow := func(name, effect, consensus, condition string) string {
		return w.root.Submit(w.t, "create_policy", m{
			"policyName": name, "effect": effect, "consensus": consensus, "condition": condition, "notes": "",
		}).Get("result", "createPolicyResult", "policyId").Text()
	}
	one := "approvers.any(user, user.id == '%s')"
	allow("Ada signs", "EFFECT_ALLOW", fmt.Sprintf(one, w.ada.UserID), "activity.action == 'SIGN'")
	w.deny = allow("Nothing is signed", "EFFECT_DENY", "true", "activity.action == 'SIGN' && activity.resource == 'PRIVATE_KEY'")
	allow("Two for tags", "EFFECT_ALLOW", fmt.Sprintf(one+" && "+one, w.ada.UserID, w.bob.UserID), "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'")
}

func (w *world) keys() {
	account := func(n int) m {
		return m{
			"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32",
			"path": fmt.Sprintf("m/44'/60'/0'/0/%d", n), "addressFormat": "ADDRESS_FORMAT_ETHEREUM",
		}
	}
	created := w.root.Submit(w.t, "create_wallet", m{"walletName": "Main", "accounts": []any{account(0), account(1)}}).
		Get("result", "createWalletResult")
	w.wallet, w.address = created.Get("walletId").Text(), created.Get("addresses", 0).Text()
	w.root.Submit(w.t, "create_wallet", m{"walletName": "Other", "accounts": []any{account(0)}})
	w.tag = w.root.Submit(w.t, "create_private_key_tag", m{"privateKeyTagName": "cold", "privateKeyIds": []any{}}).
		Get("result", "createPrivateKeyTagResult", "privateKeyTagId").Text()
	w.root.Submit(w.t, "create_private_keys", m{"privateKeys": []any{m{
		"privateKeyName": "Key", "curve": "CURVE_ED25519", "privateKeyTags": []any{w.tag}, "addressFormats": []any{},
	}}})
	w.signed = w.root.Submit(w.t, "sign_raw_payload", w.payload("00")).Get("id").Text()
	w.root.Refused(w.t, 409, "create_wallet", m{"walletName": "Main", "accounts": []any{}})
	w.pending = w.ada.Submit(w.t, "create_user_tag", m{"userTagName": "pending", "userIds": []any{}})
	w.decided = w.ada.Submit(w.t, "create_user_tag", m{"userTagName": "decided", "userIds": []any{}})
	passkey := servertest.NewPasskey(w.t)
	passkey.Register(w.t, w.server, w.root)
	byPasskey := *w.root
	byPasskey.Stamper = passkey
	byPasskey.Submit(w.t, "create_user_tag", m{"userTagName": "by a passkey", "userIds": []any{}})
	owner := w.server.Stranger(w.t, w.root)
	w.child = w.root.Submit(w.t, "create_sub_organization", m{
		"subOrganizationName": "Child", "rootQuorumThreshold": 1,
		"rootUsers": []any{m{
			"userName": "Owner", "userEmail": "owner@example.com", "authenticators": []any{}, "oauthProviders": []any{},
			"apiKeys": []any{m{"apiKeyName": "key", "publicKey": owner.Key.PublicKey(), "curveType": client.P256.CurveType()}},
		}},
	}).Get("result", "createSubOrganizationResultV8", "subOrganizationId").Text()
	owner.OrganizationID = w.child
	w.owner = owner
	w.owner.Submit(w.t, "create_user_tag", m{"userTagName": "of the child", "userIds": []any{}})
}

// later is what happens after the attacker has copied the database.
func (w *world) later() {
	w.bob.Submit(w.t, "approve_activity", m{"fingerprint": w.decided.Get("fingerprint").Text()})
	w.root.Submit(w.t, "update_wallet", m{"walletId": w.wallet, "walletName": "Renamed"})
	w.root.Submit(w.t, "update_user_name", m{"userId": w.bob.UserID, "userName": "Robert"})
	w.root.Submit(w.t, "delete_private_key_tags", m{"privateKeyTagIds": []any{w.tag}})
	w.root.Submit(w.t, "create_wallet", m{"walletName": "New", "accounts": []any{}})
	w.owner.Submit(w.t, "create_wallet", m{"walletName": "Of the child", "accounts": []any{}})
	w.factors()
}

// factors leaves an activity that has one of two factors, and one that got both.
func (w *world) factors() {
	passkey := servertest.NewPasskey(w.t)
	passkey.Register(w.t, w.server, w.root)
	byPasskey := *w.root
	byPasskey.Stamper = passkey
	step := func(kind string) m { return m{"any": []any{m{"type": "AUTHENTICATION_TYPE_" + kind}}} }
	w.root.Submit(w.t, "create_mfa_policy", m{
		"userId": w.root.UserID, "mfaPolicyName": "two", "condition": "activity.resource == 'SESSION_PROFILE'", "order": 0,
		"requiredAuthenticationMethods": []any{step("API_KEY"), step("PASSKEY")},
	})
	w.root.Submit(w.t, "create_session_profile", m{"sessionProfileName": "One factor", "scope": "true"})
	both := w.root.Submit(w.t, "create_session_profile", m{"sessionProfileName": "Two factors", "scope": "true"})
	byPasskey.Submit(w.t, "approve_activity", m{"fingerprint": both.Get("fingerprint").Text()})
}

func (w *world) payload(hex string) m {
	return m{"signWith": w.address, "payload": hex, "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_SHA256"}
}

// start runs a server on what is in the database now.
func (w *world) start(t testing.TB) *servertest.Server {
	t.Helper()
	return servertest.Start(t, w.url, config.Default())
}

// tryStart is start for a database in which also what belongs to the installation
// may be damaged, which can keep a server from starting.
func (w *world) tryStart(t testing.TB) (*servertest.Server, error) {
	t.Helper()
	ctx := t.Context()
	s, err := server.OpenStore(ctx, w.url)
	if err != nil {
		return nil, err
	}
	keys, err := server.OpenKeys(ctx, s, &config.Config{MasterKey: servertest.MasterKey(t, w.url)}, slog.New(slog.DiscardHandler))
	if err == nil {
		err = engine.CreateOrganization(ctx, s, engine.NewOrganization{
			OrganizationID: ids.New(), OrganizationName: "A try", UserID: ids.New(), UserName: "Root user",
			APIKeyID: ids.New(), APIKeyName: "Root key", PublicKey: w.root.Key.PublicKey(), KeyType: domain.CredentialP256,
		}, true, time.Now())
		keys.Vault.Close()
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	running, err := servertest.TryResume(t, w.url, config.Default(), servertest.MasterKey(t, w.url), "")
	if err != nil { // what the log is made of may be damaged
		return nil, err
	}
	running.Root = running.CreateOrganization(t, "Test organization")
	return running, nil
}
