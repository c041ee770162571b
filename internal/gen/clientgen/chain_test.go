package clientgen

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/openapi"
	"latchkey/internal/schema"
)

// A declaration as internal/request/ops has them, before and after a change.
type (
	paintParams struct {
		Name string `json:"name" check:"required,label" doc:"Name of the thing."`
	}
	paintParamsChanged struct {
		Name   string        `json:"name" check:"required,label" doc:"Name of the thing, changed."`
		Colour colour        `json:"colour,omitzero" doc:"What it will look like."`
		Coats  schema.Uint64 `json:"coats,omitzero" check:"max=3" doc:"How often."`
		Dry    *bool         `json:"dry,omitzero" doc:"Whether to wait; true when absent."`
	}
	paintResult struct {
		ThingID string `json:"thingId" check:"required,uuid" doc:"Id of the thing."`
	}
	paintResultChanged struct {
		ThingID string      `json:"thingId" check:"required,uuid" doc:"Id of the thing."`
		Layers  []layerView `json:"layers" check:"required" doc:"What is on it."`
	}
	layerView struct {
		Depth int32 `json:"depth" check:"required" doc:"In micrometres."`
	}
	colour string

	seenParams struct {
		OrganizationID string `json:"organizationId" check:"required" doc:"Organization to look in." example:"f9a31c64-d604-42e4-9bef-a773096afad7"`
	}
	seenReply struct {
		Layers []layerView `json:"layers" check:"required" doc:"Everything."`
	}
)

func (colour) Enum() []string { return []string{"COLOUR_RED", "COLOUR_DARK_BLUE"} }

func declared[P, R any]() *activity.Catalog {
	return activity.NewCatalog(
		[]*activity.CompiledOp{activity.Op[P, R]{
			Spec: activity.Spec{
				Name: "paint_thing", Version: 2, Summary: "Paint a thing.",
				Govern: activity.Govern{Resource: activity.ResourceWallet, Action: activity.ActionUpdate},
			},
			Exec: func(context.Context, activity.Env, *P) (r R, err error) { return r, nil },
		}.Compile()},
		[]*activity.CompiledQuery{activity.Query[seenParams, seenReply]{
			Name: "list_layers", Summary: "List all layers.",
			Read: func(context.Context, activity.Reader, *seenParams) (r seenReply, err error) { return r, nil },
		}.Compile()},
	)
}

// TestChain checks that a changed declaration changes the OpenAPI document and
// the client.
func TestChain(t *testing.T) {
	before, after := declared[paintParams, paintResult](), declared[paintParamsChanged, paintResultChanged]()
	added := []string{"Name of the thing, changed.", "What it will look like.", "COLOUR_DARK_BLUE", "Whether to wait; true when absent.", "What is on it."}
	document := func(c *activity.Catalog) string {
		t.Helper()
		text, err := openapi.Document(c, "test")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	generated := func(c *activity.Catalog) string {
		t.Helper()
		files, err := Generate(c)
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for name, text := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), name, text, parser.AllErrors); err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		// Where a comment is broken does not matter here.
		return strings.Join(strings.Fields(strings.ReplaceAll(all.String(), "//", "")), " ")
	}
	for what, render := range map[string]func(*activity.Catalog) string{"OpenAPI document": document, "client": generated} {
		for _, text := range added {
			if strings.Contains(render(before), text) {
				t.Errorf("the %s has %q before the change", what, text)
			}
			if !strings.Contains(render(after), text) {
				t.Errorf("the %s does not have %q after the change", what, text)
			}
		}
	}
	want := []string{
		"func (c *Client) PaintThing(ctx context.Context, p PaintThingParameters) (*PaintThingResult, *Activity, error)",
		`prepare[PaintThingResult](c, "paint_thing", "ACTIVITY_TYPE_PAINT_THING_V2", "paintThingResultV2", p)`,
		"Colour Colour `json:\"colour,omitzero\"`",
		"Coats uint64 `json:\"coats,omitzero,string\"`",
		"Dry *bool `json:\"dry,omitzero\"`",
		`ColourDarkBlue Colour = "COLOUR_DARK_BLUE"`,
		"func (c *Client) ListLayers(ctx context.Context, q ListLayersRequest) (*ListLayersReply, error)",
		"type ListLayersRequest struct{}",
		"Layers []LayerView `json:\"layers\"`",
	}
	text := generated(after)
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("the client lacks %s", w)
		}
	}
}

// TestDeterministic: the same catalog gives the same text.
func TestDeterministic(t *testing.T) {
	one, err := Generate(declared[paintParamsChanged, paintResultChanged]())
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		two, err := Generate(declared[paintParamsChanged, paintResultChanged]())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(one, two); diff != "" {
			t.Fatal(diff)
		}
	}
}

type (
	clashResult struct {
		Made Timestamp `json:"made" check:"required" doc:"Another time than that of records."`
	}
	Timestamp struct {
		Hour int32 `json:"hour" check:"required" doc:"The hour."`
	}
	manyParams struct {
		Numbers []schema.Uint64 `json:"numbers" check:"required" doc:"Numbers."`
	}
)

// TestRefuses: what cannot be declared rightly is not declared at all.
func TestRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		catalog *activity.Catalog
		want    string
	}{
		"one name for two records": {declared[paintParams, clashResult](), "would be both"},
		"an array of 64-bit":       {declared[manyParams, paintResult](), "64-bit"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Generate(c.catalog); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		"create_api_keys": "CreateAPIKeys", "otp_login": "OTPLogin", "apiKeyId": "APIKeyID", "userIds": "UserIDs",
		"clientDataJson": "ClientDataJSON", "caip2Prefix": "CAIP2Prefix", "oauthProviders": "OAuthProviders", "r": "R",
		"ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH": "AddressFormatBitcoinMainnetP2PKH", "CURVE_SECP256K1": "CurveSecp256k1",
		"organizationId": "OrganizationID", "rawId": "RawID", "otpEncryptionTargetBundle": "OTPEncryptionTargetBundle",
	} {
		if got := pascal(in); got != want || !ast.IsExported(got) {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for want, values := range map[string][]string{
		"A_B": {"A_B_C", "A_B_D_E"}, "A": {"A_B", "A_C"}, "": {"A", "B"}, "X": {"X_Y", "X_Y_Z"},
	} {
		if got := commonWords(values); got != want {
			t.Errorf("%v: %q, want %q", values, got, want)
		}
	}
}
