package schema

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/fault"
)

type curve string

func (curve) Enum() []string { return []string{"P256", "SECP256K1"} }

type apiKey struct {
	Name      string `json:"apiKeyName" check:"required,label" doc:"Name."`
	PublicKey string `json:"publicKey" check:"required,hex,min=66,max=66" doc:"Compressed point."`
	Curve     curve  `json:"curveType" check:"required" doc:"Curve."`
	Expires   Uint64 `json:"expirationSeconds,omitzero" check:"min=1,max=100000" doc:"Life time."`
}

type user struct {
	Name    string   `json:"userName" check:"required,label" doc:"Name."`
	Email   string   `json:"userEmail,omitzero" check:"email" doc:"Mail address."`
	Phone   string   `json:"userPhoneNumber,omitzero" check:"e164" doc:"Phone number."`
	APIKeys []apiKey `json:"apiKeys" check:"required,max=10" doc:"Keys."`
	Tags    []string `json:"userTags" check:"required,lenient,max=5,each=uuid,unique" doc:"Tags."`
}

type window struct {
	From Uint64 `json:"from" check:"required" doc:"Start." example:"5"`
	To   Uint64 `json:"to" check:"required" doc:"End." example:"9"`
}

func (w *window) Check(p *Problems) {
	if w.To < w.From {
		p.Add("to", "must not be before %s", "from")
		p.Add("", "is upside down")
	}
}

// rich has at least one member of every kind and rule.
type rich struct {
	Org      string           `json:"organizationId" check:"required,uuid" doc:"Organization."`
	Users    []user           `json:"users" check:"required,min=1,max=3" doc:"Users."`
	Notes    string           `json:"notes" check:"required,allowempty,max=20" doc:"Notes."`
	Effect   string           `json:"effect" check:"required,enum=ALLOW|DENY" doc:"Effect."`
	Words    int32            `json:"words,omitzero" check:"oneof=12 15 18" doc:"Words." example:"15"`
	Count    int32            `json:"count" check:"min=-3,max=7" doc:"Count."`
	Active   bool             `json:"active" check:"required" doc:"Active."`
	Hidden   bool             `json:"hidden" doc:"Hidden."`
	Amount   Uint64           `json:"amount" check:"required" doc:"Amount." example:"18446744073709551615"`
	Free     string           `json:"free" check:"max=8" doc:"Free text."`
	Mail     string           `json:"mail" check:"email,allowempty" doc:"Mail address or nothing."`
	Window   window           `json:"window" check:"required" doc:"Window."`
	Later    *window          `json:"later,omitzero" doc:"Second window."`
	Spans    []*window        `json:"spans,omitzero" check:"max=4" doc:"More windows."`
	Colors   []curve          `json:"colors,omitzero" check:"min=2,unique" doc:"Curves."`
	Numbers  []int32          `json:"numbers" check:"each=min=2,each=max=9" doc:"Numbers."`
	Big      []Uint64         `json:"big,omitzero" doc:"Big numbers."`
	Raw      jsontext.Value   `json:"raw,omitzero" doc:"Anything." example:"[1, \"two\"]"`
	Config   jsontext.Value   `json:"config" check:"required,object" doc:"An object."`
	Raws     []jsontext.Value `json:"raws,omitzero" check:"each=object" doc:"Objects."`
	Optional struct {
		A string `json:"a" check:"required" doc:"A."`
		B bool   `json:"b" doc:"B."`
	} `json:"optional,omitzero" doc:"Unnamed object."`
	Skipped string `json:"-"`
	private int
}

// oneOf wants exactly one of its members.
type oneOf struct {
	ID   string `json:"id,omitzero" check:"uuid,unsampled" doc:"Id."`
	Name string `json:"name,omitzero" check:"label,sampled" doc:"Name."`
}

func (o *oneOf) Check(p *Problems) {
	if (o.ID == "") == (o.Name == "") {
		p.Add("", "give either id or name")
	}
}

type nothing struct{}

func schemas() map[string]*Schema {
	return map[string]*Schema{
		"rich": Of[rich](), "user": Of[user](), "apiKey": Of[apiKey](), "window": Of[window](),
		"oneOf": Of[oneOf](), "nothing": Of[nothing](),
	}
}

func wantFields(t *testing.T, got []fault.Field, want ...string) {
	t.Helper()
	var lines []string
	for _, f := range got {
		lines = append(lines, f.Path+": "+f.Description)
	}
	if len(lines) == len(want) {
		same := true
		for i := range want {
			same = same && lines[i] == want[i]
		}
		if same {
			return
		}
	}
	t.Errorf("problems:\n got %q\nwant %q", lines, want)
}
