package translog

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var sample = Record{
	OrganizationID: "0198c0de-0000-7000-8000-000000000001", Sequence: 7, ActivityID: "0198c0de-0000-7000-8000-000000000002",
	Status: "ACTIVITY_STATUS_COMPLETED", TimeMs: 1789000000123,
	RequestDigest: strings.Repeat("0a", 32), VotesDigest: strings.Repeat("1b", 32), ResultDigest: strings.Repeat("2c", 32), StateDigest: "opaque",
}

const sampleText = `{"v":1,"organizationId":"0198c0de-0000-7000-8000-000000000001","sequence":7,"activityId":"0198c0de-0000-7000-8000-000000000002",` +
	`"status":"ACTIVITY_STATUS_COMPLETED","timeMs":1789000000123,"requestDigest":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a",` +
	`"votesDigest":"1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b","decisionDigest":"",` +
	`"resultDigest":"2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c","stateDigest":"opaque"}`

const kindText = `{"v":1,"organizationId":"","sequence":0,"kind":"start","status":"1.2.0","timeMs":1,"requestDigest":"",` +
	`"votesDigest":"","decisionDigest":"","resultDigest":"","stateDigest":""}`

func TestRecordText(t *testing.T) {
	kind := Record{Kind: "start", Status: "1.2.0", TimeMs: 1}
	for want, r := range map[string]Record{sampleText: sample, kindText: kind} {
		if got := string(r.AppendText([]byte("before "))); got != "before "+want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if back, err := ParseRecord(want); err != nil || back != r {
			t.Errorf("read back: %+v, %v", back, err)
		}
	}
}

// encoding/json is a second opinion on escapes: the text is JSON, and says what
// the record says.
func TestRecordIsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Record{OrganizationID: rapid.String().Draw(t, "organization"), Sequence: rapid.Int64Min(0).Draw(t, "sequence"), Status: rapid.String().Draw(t, "status"), TimeMs: rapid.Int64Min(0).Draw(t, "time"), StateDigest: rapid.String().Draw(t, "state")}
		name := rapid.StringN(1, -1, -1).Draw(t, "name")
		if rapid.Bool().Draw(t, "kind") {
			r.Kind = name
		} else {
			r.ActivityID = name
		}
		text := r.AppendText(nil)
		var read struct {
			V                                                int
			OrganizationID, ActivityID, Kind, Status         string
			Sequence, TimeMs                                 int64
			StateDigest, RequestDigest, VotesDigest, Unknown string
		}
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if read.V != 1 || read.OrganizationID != r.OrganizationID || read.ActivityID != r.ActivityID || read.Kind != r.Kind || read.Status != r.Status ||
			read.Sequence != r.Sequence || read.TimeMs != r.TimeMs || read.StateDigest != r.StateDigest {
			t.Fatalf("%s reads as %+v", text, read)
		}
		if back, err := ParseRecord(string(text)); err != nil || back != r {
			t.Fatalf("%s: %+v, %v", text, back, err)
		}
	})
}

func TestRecordNeverHasBadUTF8(t *testing.T) {
	r := Record{Kind: "a\xffb\xed\xa0\x80", OrganizationID: "\xc3"}
	if got := string(r.AppendText(nil)); !strings.Contains(got, `"kind":"a`+"\uFFFD"+`b`) || strings.ToValidUTF8(got, "?") != got {
		t.Errorf("%q", got)
	}
}

func TestParseRecordRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":             {"", "expected"},
		"white space":         {strings.Replace(sampleText, ":7", ": 7", 1), "sequence"},
		"another order":       {strings.Replace(strings.Replace(sampleText, `"sequence":7,`, "", 1), `"status"`, `"sequence":7,"status"`, 1), `expected ,"sequence":`},
		"another version":     {strings.Replace(sampleText, `"v":1`, `"v":2`, 1), `expected {"v":1`},
		"a needless escape":   {strings.Replace(sampleText, "opaque", `opa\u0071ue`, 1), "canonical"},
		"an escaped slash":    {strings.Replace(sampleText, "opaque", `\/`, 1), "canonical"},
		"a surrogate":         {strings.Replace(sampleText, "opaque", `\ud800`, 1), "canonical"},
		"bad UTF-8":           {strings.Replace(sampleText, "opaque", "\xff", 1), "canonical"},
		"a control character": {strings.Replace(sampleText, "opaque", "\x01", 1), "stateDigest"},
		"a leading zero":      {strings.Replace(sampleText, ":7", ":07", 1), "canonical"},
		"a negative number":   {strings.Replace(sampleText, ":7", ":-7", 1), "sequence"},
		"a fraction":          {strings.Replace(sampleText, ":7", ":7.0", 1), "activityId"},
		"a huge number":       {strings.Replace(sampleText, ":7", ":9223372036854775808", 1), "sequence"},
		"a short digest":      {strings.Replace(sampleText, "0a0a", "0a", 1), "requestDigest"},
		"an upper-case hex":   {strings.Replace(sampleText, "1b1b", "1B1B", 1), "votesDigest"},
		"no activity":         {strings.Replace(sampleText, sample.ActivityID, "", 1), "activityId is empty"},
		"no kind":             {strings.Replace(kindText, "start", "", 1), "kind is empty"},
		"a further member":    {strings.Replace(sampleText, `"opaque"}`, `"opaque","x":1}`, 1), "expected }"},
		"more":                {sampleText + "\n", "more after"},
		"an end too early":    {sampleText[:len(sampleText)-1], "expected }"},
		"a string's end":      {sampleText[:len(sampleText)-2], "no end"},
	} {
		if r, err := ParseRecord(tc.text); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %+v, %v; want an error with %q", name, r, err, tc.want)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add(sampleText)
	f.Add(kindText)
	f.Add(`{"v":1,"organizationId":"\u0001\"\\","sequence":0`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRecord(text)
		if err != nil {
			return
		}
		if again := string(r.AppendText(nil)); again != text {
			t.Fatalf("%q was read and is written as %q", text, again)
		}
	})
}

func TestHashesAllocateNothing(t *testing.T) {
	text := make([]byte, 0, 1024)
	var leaf Hash
	allocated := testing.AllocsPerRun(100, func() {
		text = sample.AppendText(text[:0])
		leaf = LeafHash(EntryHash([32]byte{1}, text))
	})
	if allocated != 0 || leaf == (Hash{}) {
		t.Errorf("%v allocations an entry", allocated)
	}
}

func BenchmarkEntry(b *testing.B) {
	text := make([]byte, 0, 1024)
	for b.Loop() {
		text = sample.AppendText(text[:0])
		LeafHash(EntryHash([32]byte{1}, text))
	}
}
