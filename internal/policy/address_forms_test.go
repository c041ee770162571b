package policy

import (
	"strings"
	"testing"

	"latchkey/testvectors"
)

// TestAddressForms: every address of the vectors is well formed, and one with
// another letter is not, where the chain has checksums.
func TestAddressForms(t *testing.T) {
	problems := map[string]func(string) string{
		"ETHEREUM": ethereumProblem, "SOLANA": solanaProblem, "TRON": tronProblem, "BITCOIN": bitcoinProblem,
	}
	seen := map[string]int{}
	for _, v := range testvectors.Section[struct{ AddressFormat, Address string }](t, "addresses", "hd") {
		if problem := anyProblem(v.Address); problem != "" {
			t.Errorf("%s %s: %s", v.AddressFormat, v.Address, problem)
		}
		chain, _, _ := strings.Cut(strings.TrimPrefix(v.AddressFormat, "ADDRESS_FORMAT_"), "_")
		problem := problems[chain]
		if problem == nil {
			continue
		}
		seen[chain]++
		if said := problem(v.Address); said != "" {
			t.Errorf("%s %s: %s", v.AddressFormat, v.Address, said)
		}
		if said := problem(v.Address + "222"); said == "" {
			t.Errorf("%s222 is taken for an address of %s", v.Address, chain)
		}
		last := v.Address[len(v.Address)-1]
		other := v.Address[:len(v.Address)-1] + map[bool]string{true: "3", false: "2"}[last == '2']
		if said := problem(other); said == "" && (chain == "TRON" || chain == "BITCOIN") {
			t.Errorf("%s is taken for an address of %s", other, chain)
		}
	}
	for chain := range problems {
		if seen[chain] == 0 {
			t.Errorf("no vector is of %s", chain)
		}
	}
}
