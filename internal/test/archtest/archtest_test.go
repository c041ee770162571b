// Package archtest checks the structure of the module: which package may import
// which, what docs/architecture.md says of that, and that tests which must exist
// do. It holds tests only.
package archtest

import (
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// layers lists every package, the lowest layer first. Imports go down only;
// packages of one layer do not import each other, except where peers says so.
var layers = [][]string{
	{"internal/keys/lanes"},
	{"internal/fault", "internal/ids", "internal/suggest", "internal/lru", "internal/jsonwrite", "internal/pages", "internal/keys/curve", "internal/secretfile", "internal/policy/fact", "internal/store/migration", "internal/chain/rlp", "internal/keys/vault/internal/k256", "internal/keys/vault/internal/secret", "internal/translog", "internal/tracing"},
	{
		"internal/schema", "internal/strictyaml", "internal/keys/address", "internal/keys/derivation", "internal/keys/vault/bundle",
		"internal/keys/vault/internal/seal", "internal/keys/vault/internal/hd", "internal/keys/vault/internal/mnemonic",
		"internal/keys/vault/internal/sign", "internal/keys/vault/internal/hpkebox", "internal/keys/vault/internal/quorumbox",
		"internal/chain/eth", "internal/chain/sol", "internal/chain/btc", "internal/chain/tron",
		"internal/chain/abi", "internal/chain/idl", "internal/policy", "internal/outbox/notify", "internal/proof/passkey", "internal/witness", "internal/console", "internal/frames", "internal/webhook/target", "internal/meter", "internal/devseed", "internal/supervisor",
	},
	{"internal/domain", "internal/server/config", "internal/proof/stamp", "internal/keys/vault", "internal/chain/describe", "internal/chain/transfer"},
	{"internal/store", "internal/velocity", "internal/request/record", "internal/proof/token", "internal/proof/oidc", "internal/proof/oauth2", "internal/keys/vault/unseal", "internal/keys/vault/sealfile"},
	{"internal/request/decide", "internal/store/group", "internal/store/convert", "internal/outbox", "internal/ledger", "internal/webhook"},
	{"internal/request/activity"},
	{"internal/feed"},
	{"internal/request/ops", "internal/request/engine", "internal/store/sqlite", "internal/store/postgres", "internal/audit"},
	{"internal/request/api", "internal/request/authproxy", "internal/gen/clientgen", "internal/request/openapi", "internal/policy/policytest"},
	{"internal/server", "internal/policy/deploy"},
	{"client", "cmd/latchkey"},
}

// forTests lists the packages that only tests may import.
var forTests = []string{
	"testvectors", "internal/proof/passkey/passkeytest", "internal/test/oidctest", "internal/test/oidctest/issuer", "internal/test/oauth2test", "internal/test/oauth2test/provider",
	"internal/test/mailtest", "internal/test/mailtest/smtpd", "internal/test/servertest", "internal/test/pgtest", "internal/test/patroni", "internal/test/forgetful", "internal/test/trial", "internal/test/failover", "internal/test/powerloss", "internal/test/testkit", "internal/test/golden", "internal/store/storetest", "internal/keys/lanes/lanestest", "internal/test/archtest",
}

// peers are the imports within one layer.
var peers = map[string]string{
	"cmd/latchkey": "client",
}

const root = "../../.."

func TestLayers(t *testing.T) {
	layer := map[string]int{}
	for i, packages := range layers {
		for _, p := range packages {
			layer[p] = i
		}
	}
	test := map[string]bool{}
	for _, p := range forTests {
		test[p] = true
	}
	found := map[string]bool{}
	walk(t, func(pkg, file string) {
		if strings.HasSuffix(file, "_test.go") || test[pkg] {
			return
		}
		found[pkg] = true
		mine, known := layer[pkg]
		if !known {
			t.Errorf("%s has no place in layers; put it into one", pkg)
			return
		}
		for _, imported := range imports(t, file) {
			target, ours := strings.CutPrefix(imported, "latchkey/")
			if !ours {
				continue
			}
			theirs, known := layer[target]
			switch {
			case test[target]:
				t.Errorf("%s imports %s, which is for tests", file, target)
			case !known:
				t.Errorf("%s imports %s, which has no place in layers", file, target)
			case theirs > mine, theirs == mine && peers[pkg] != target:
				t.Errorf("%s imports %s, which is not in a lower layer", file, target)
			}
		}
	})
	for p := range layer {
		if !found[p] {
			t.Errorf("layers has %s, but there is no such package", p)
		}
	}
}

// TestNoHiddenState refuses init functions and names that say nothing.
func TestNoHiddenState(t *testing.T) {
	hidden := regexp.MustCompile(`(?m)^func init\(\)`)
	vague := map[string]bool{"util": true, "utils": true, "common": true, "helper": true, "helpers": true, "types": true, "entities": true}
	walk(t, func(pkg, file string) {
		if hidden.MatchString(read(t, file)) {
			t.Errorf("%s has an init function; wire things where they can be seen", file)
		}
		if vague[filepath.Base(pkg)] {
			t.Errorf("package %s says nothing by its name", pkg)
		}
	})
}

// TestParsersAreFuzzed names the fuzz target of every parser of outside bytes, and of
// all arithmetic in assembly, and checks that it is there and has seeds.
func TestParsersAreFuzzed(t *testing.T) {
	for pkg, targets := range map[string][]string{
		"internal/schema":             {"FuzzDecode"},
		"internal/velocity":           {"FuzzReadSimulation"},
		"internal/keys/curve":         {"FuzzParseDER", "FuzzVerifyP256", "FuzzAssembly", "FuzzEight"},
		"internal/proof/stamp":        {"FuzzReadAPIKeyStamp", "FuzzReadWebauthnStamp", "FuzzReadAttestedStamp"},
		"internal/policy":             {"FuzzCompile"},
		"internal/chain/abi":          {"FuzzParse", "FuzzCall"},
		"internal/chain/idl":          {"FuzzParse", "FuzzInstruction"},
		"internal/chain/describe":     {"FuzzEthereum", "FuzzSolana", "FuzzBitcoin", "FuzzTron", "FuzzTypedData"},
		"internal/outbox/notify":      {"FuzzRender", "FuzzSMSTemplate", "FuzzMagicLink"},
		"internal/proof/oidc":         {"FuzzToken", "FuzzKeys"},
		"internal/proof/passkey":      {"FuzzVerify", "FuzzKeyDescription"},
		"internal/policy/policytest":  {"FuzzLoad"},
		"bench/load":                  {"FuzzReadReply"},
		"plugins/age-plugin-lkcloud":  {"FuzzParsePlace"},
		"plugins/age-plugin-lkpkcs11": {"FuzzParseURI"},
		"plugins/age-plugin-lktpm":    {"FuzzParsePlace"},
		"internal/proof/token":        {"FuzzRead"},
		"internal/request/engine":     {"FuzzEnvelope"},
		"internal/server/config":      {"FuzzParse", "FuzzStorePassword"},
		"internal/strictyaml":         {"FuzzDocument"},
		"internal/translog":           {"FuzzParseRecord", "FuzzOpenCheckpoint", "FuzzReceipt"},
		"internal/witness":            {"FuzzAddCheckpoint"},
		"internal/webhook/target":     {"FuzzCheck"},
		"internal/feed":               {"FuzzParseCursor"},

		"internal/keys/vault":                    {"FuzzImportBundle"},
		"internal/keys/vault/bundle":             {"FuzzParseEncrypted"},
		"internal/keys/vault/unseal":             {"FuzzParseKey"},
		"internal/keys/vault/sealfile":           {"FuzzParseShare", "FuzzReadSeal"},
		"internal/keys/vault/internal/k256":      {"FuzzAssembly", "FuzzEight"},
		"internal/keys/vault/internal/mnemonic":  {"FuzzMnemonic"},
		"internal/keys/vault/internal/seal":      {"FuzzOpenSealed"},
		"internal/keys/vault/internal/quorumbox": {"FuzzOpen"},
		"internal/proof/oauth2":                  {"FuzzMember"},

		"internal/keys/address":    {"FuzzOf"},
		"internal/keys/derivation": {"FuzzParse"},
		"internal/chain/rlp":       {"FuzzNext"},
		"internal/chain/eth":       {"FuzzParse", "FuzzTypedData", "FuzzAuthorization"},
		"internal/chain/sol":       {"FuzzParse"},
		"internal/chain/tron":      {"FuzzParse"},
		"internal/chain/btc":       {"FuzzParse"},
		"client":                   {"FuzzParseKeyFile", "FuzzOpenBundle", "FuzzReadCredential"},
	} {
		files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, file := range files {
			all.WriteString(read(t, file))
		}
		for _, target := range targets {
			_, body, found := strings.Cut(all.String(), "func "+target+"(f *testing.F)")
			if body, _, _ = strings.Cut(body, "\n}\n"); !found || !strings.Contains(body, "f.Add(") && !strings.Contains(body, "seed") {
				t.Errorf("%s: %s is missing or has no seeds", pkg, target)
			}
		}
	}
}

func imports(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, i := range parsed.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, path)
	}
	return all
}

// walk visits every Go file of the module with the package that it is in; tools
// and bench are modules of their own.
func walk(t *testing.T, visit func(pkg, file string)) {
	t.Helper()
	var visited int
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a folder of another test that has come to its end
		}
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return filepath.SkipDir // another module
			}
		}
		if d.IsDir() && (name == "node_modules" || name == "testdata" || name == "bin" || strings.HasPrefix(name, ".") && name != "." && name != "..") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ".go") {
			pkg, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			visit(filepath.ToSlash(pkg), path)
			visited++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if visited < 50 {
		t.Fatalf("only %d files were found; the walk is broken", visited)
	}
}
