package trial

import (
	"io"
	"testing"

	"latchkey/client"
)

// TestCompare gives the ledger servers that lack something, or have too much: a trial
// that cannot fail proves nothing.
func TestCompare(t *testing.T) {
	done := func(id, fingerprint string) client.Activity {
		return client.Activity{ID: id, Fingerprint: fingerprint, Status: client.ActivityStatusCompleted}
	}
	wallet := func(id, name string) client.Wallet { return client.Wallet{WalletID: id, WalletName: name} }
	acknowledged := expected{writes: map[string]write{"f": {wallet: "w", activity: "a", walletID: "i"}}}
	inDoubt := expected{writes: map[string]write{"f": {wallet: "w"}}}
	for name, c := range map[string]struct {
		expected   expected
		activities []client.Activity
		wallets    []client.Wallet
		want       counts
	}{
		"all there":            {acknowledged, []client.Activity{done("a", "f")}, []client.Wallet{wallet("i", "w")}, counts{}},
		"in doubt, done":       {inDoubt, []client.Activity{done("a", "f")}, []client.Wallet{wallet("i", "w")}, counts{}},
		"in doubt, not done":   {inDoubt, nil, nil, counts{}},
		"activity lost":        {acknowledged, nil, []client.Wallet{wallet("i", "w")}, counts{lost: 1}},
		"wallet lost":          {acknowledged, []client.Activity{done("a", "f")}, nil, counts{lost: 1}},
		"another wallet":       {acknowledged, []client.Activity{done("a", "f")}, []client.Wallet{wallet("j", "w")}, counts{lost: 1}},
		"another activity":     {acknowledged, []client.Activity{done("b", "f")}, []client.Wallet{wallet("i", "w")}, counts{lost: 1}},
		"half done":            {inDoubt, []client.Activity{done("a", "f")}, nil, counts{lost: 1}},
		"two activities":       {acknowledged, []client.Activity{done("a", "f"), done("b", "f")}, []client.Wallet{wallet("i", "w")}, counts{twice: 1}},
		"two wallets":          {inDoubt, []client.Activity{done("a", "f")}, []client.Wallet{wallet("i", "w"), wallet("j", "w")}, counts{twice: 1}},
		"shown and gone":       {expected{shown: map[string]string{"a": "f"}}, nil, nil, counts{lost: 1}},
		"made, though refused": {expected{}, nil, []client.Wallet{wallet("i", ghost+" 1")}, counts{other: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &ledger{out: io.Discard}
			l.compare("here", c.expected, c.activities, c.wallets)
			if l.counts != c.want {
				t.Errorf("%+v, not %+v", l.counts, c.want)
			}
		})
	}
}
