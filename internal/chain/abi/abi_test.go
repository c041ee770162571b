package abi_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/chain/abi"
	"latchkey/internal/policy/fact"
)

// fn is an interface of one function. A parameter is written "type name";
// inputs that need more are given as JSON.
func fn(name string, inputs ...string) string {
	for i, in := range inputs {
		if !strings.HasPrefix(in, "{") {
			kind, label, _ := strings.Cut(in, " ")
			inputs[i] = fmt.Sprintf(`{"name":%q,"type":%q}`, label, kind)
		}
	}
	return fmt.Sprintf(`[{"type":"function","name":%q,"inputs":[%s],"outputs":[]}]`, name, strings.Join(inputs, ","))
}

// words is calldata: a selector and then words in hex, padded on the left, or
// on the right where they end in "…".
func words(tb testing.TB, selector string, all ...string) []byte {
	tb.Helper()
	text := selector
	for _, w := range all {
		if left, ok := strings.CutSuffix(w, "…"); ok {
			text += left + strings.Repeat("0", 64-len(left))
		} else {
			text += strings.Repeat("0", 64-len(w)) + w
		}
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func parse(tb testing.TB, text string) *abi.Interface {
	tb.Helper()
	i, err := abi.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return i
}

// show writes arguments the way a policy would see them.
func show(v fact.Value) string {
	switch v.Kind {
	case fact.Bool:
		return fmt.Sprint(v.Bool)
	case fact.Num:
		return v.Number.String()
	case fact.Text:
		if v.Fold {
			return "~" + v.Text
		}
		return fmt.Sprintf("%q", v.Text)
	case fact.List:
		var all []string
		for _, e := range v.List {
			all = append(all, show(e))
		}
		return "[" + strings.Join(all, " ") + "]"
	default:
		return fmt.Sprintf("kind %d: %s", v.Kind, v.Text)
	}
}

func showArgs(m fact.Map) string {
	var all []string
	for _, e := range m {
		all = append(all, e.Name+"="+show(e.Value))
	}
	return strings.Join(all, " ")
}

// TestSpecification has the examples of the Solidity ABI specification.
func TestSpecification(t *testing.T) {
	for _, c := range []struct {
		name, abi, selector string
		words               []string
		want                string
	}{
		{
			"baz", fn("baz", "uint32 x", "bool y"), "cdcd77c0",
			[]string{"45", "1"},
			"x=69 y=true",
		},
		{
			"bar", fn("bar", "bytes3[2] "), "fce353f6",
			[]string{"616263…", "646566…"},
			"0=[~0x616263 ~0x646566]",
		},
		{
			"sam", fn("sam", "bytes name", "bool z", "uint[] data"), "a5643bf2",
			[]string{"60", "1", "a0", "4", "64617665…", "3", "1", "2", "3"},
			"name=~0x64617665 z=true data=[1 2 3]",
		},
		{
			"f", fn("f", "uint256 a", "uint32[] b", "bytes10 c", "bytes d"), "8be65246",
			[]string{"123", "80", "31323334353637383930…", "e0", "2", "456", "789", "d", "48656c6c6f2c20776f726c6421…"},
			"a=291 b=[1110 1929] c=~0x31323334353637383930 d=~0x48656c6c6f2c20776f726c6421",
		},
		{
			"g", fn("g", "uint256[][] numbers", "string[] names"), "2289b18c",
			[]string{
				"40", "140", "2", "40", "a0", "2", "1", "2", "1", "3",
				"3", "60", "a0", "e0", "3", "6f6e65…", "3", "74776f…", "5", "7468726565…",
			},
			`numbers=[[1 2] [3]] names=["one" "two" "three"]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			call, ok := parse(t, c.abi).Call(words(t, c.selector, c.words...))
			if !ok {
				t.Fatal("no match")
			}
			if got := showArgs(call.Args); got != c.want || call.Name != c.name || call.Selector != "0x"+c.selector {
				t.Errorf("%s %s(%s), want %s", call.Selector, call.Name, got, c.want)
			}
		})
	}
}

// TestSelectors has well-known selectors; they prove the canonical types.
func TestSelectors(t *testing.T) {
	tuple := func(dims string, types ...string) string {
		var all []string
		for _, kind := range types {
			all = append(all, fmt.Sprintf(`{"name":"","type":%q}`, kind))
		}
		return fmt.Sprintf(`{"name":"p","type":"tuple%s","components":[%s]}`, dims, strings.Join(all, ","))
	}
	for _, c := range []struct{ selector, abi string }{
		{"a9059cbb", fn("transfer", "address to", "uint256 amount")},
		{"a9059cbb", fn("transfer", "address to", "uint amount")},
		{"095ea7b3", fn("approve", "address spender", "uint256 amount")},
		{"23b872dd", fn("transferFrom", "address from", "address to", "uint256 amount")},
		{"18160ddd", fn("totalSupply")},
		{"ac9650d8", fn("multicall", "bytes[] data")},
		{"42842e0e", fn("safeTransferFrom", "address from", "address to", "uint256 id")},
		{"b88d4fde", fn("safeTransferFrom", "address from", "address to", "uint256 id", "bytes data")},
		{"3593564c", fn("execute", "bytes commands", "bytes[] inputs", "uint256 deadline")},
		{"82ad56cb", fn("aggregate3", tuple("[]", "address", "bool", "bytes"))},
		{"414bf389", fn("exactInputSingle", tuple("", "address", "address", "uint24", "address", "uint256", "uint256", "uint256", "uint160"))},
		{"d505accf", fn("permit", "address owner", "address spender", "uint256 value", "uint256 deadline", "uint8 v", "bytes32 r", "bytes32 s")},
	} {
		t.Run(c.abi, func(t *testing.T) {
			i := parse(t, c.abi)
			for data := words(t, c.selector); len(data) < 1000; data = append(data, make([]byte, 32)...) {
				if call, ok := i.Call(data); ok && call.Selector == "0x"+c.selector {
					return
				}
			}
			// Dynamic arguments need offsets that are not zero.
			for _, args := range [][]string{{"20", "0"}, {"60", "80", "0", "0", "0"}, {"1", "2", "3", "80", "0"}} {
				if call, ok := i.Call(words(t, c.selector, args...)); ok && call.Selector == "0x"+c.selector {
					return
				}
			}
			t.Error("no call with this selector is read")
		})
	}
}

const (
	allOnes  = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
	minusOne = allOnes
)

func TestValues(t *testing.T) {
	pair := `{"name":"pair","type":"tuple","components":[{"name":"a","type":"address"},{"name":"b","type":"string"}]}`
	for _, c := range []struct {
		name, input string
		words       []string
		want        string // empty: no match
	}{
		{"address", "address a", []string{"AbCdEf0123456789abcdef0123456789abcdef01"}, "a=~0xabcdef0123456789abcdef0123456789abcdef01"},
		{"address too wide", "address a", []string{"1abcdef0123456789abcdef0123456789abcdef01"}, ""},
		{"true", "bool a", []string{"1"}, "a=true"},
		{"false", "bool a", []string{"0"}, "a=false"},
		{"bool of two", "bool a", []string{"2"}, ""},
		{"bool too wide", "bool a", []string{"101"}, ""},
		{"uint256 max", "uint256 a", []string{allOnes}, "a=115792089237316195423570985008687907853269984665640564039457584007913129639935"},
		{"uint8 max", "uint8 a", []string{"ff"}, "a=255"},
		{"uint8 too wide", "uint8 a", []string{"100"}, ""},
		{"uint8 with a stray top bit", "uint8 a", []string{"8000000000000000000000000000000000000000000000000000000000000001"}, ""},
		{"int256 -1", "int256 a", []string{minusOne}, "a=-1"},
		{"int8 -1", "int8 a", []string{minusOne}, "a=-1"},
		{"int8 -128", "int8 a", []string{strings.Repeat("f", 62) + "80"}, "a=-128"},
		{"int8 127", "int8 a", []string{"7f"}, "a=127"},
		{"int8 128", "int8 a", []string{"80"}, ""},
		{"int8 without its sign", "int8 a", []string{"ff"}, ""},
		{"int8 with half a sign", "int8 a", []string{"00" + strings.Repeat("f", 62)}, ""},
		{"int256 too negative to compare", "int256 a", []string{"8" + strings.Repeat("0", 63)}, "a=kind 6: the integer does not fit into 128 bits with a sign"},
		{"int256 too large to compare", "int256 a", []string{"80000000000000000000000000000000"}, "a=kind 6: the integer does not fit into 128 bits with a sign"},
		{"int128 least", "int128 a", []string{strings.Repeat("f", 32) + "8" + strings.Repeat("0", 31)}, "a=-170141183460469231731687303715884105728"},
		{"bytes1", "bytes1 a", []string{"ff…"}, "a=~0xff"},
		{"bytes1 too wide", "bytes1 a", []string{"ff01…"}, ""},
		{"bytes32", "bytes32 a", []string{allOnes}, "a=~0x" + allOnes},
		{"function", "function a", []string{strings.Repeat("ab", 24) + "…"}, "a=~0x" + strings.Repeat("ab", 24)},
		{"function too wide", "function a", []string{strings.Repeat("ab", 25) + "…"}, ""},
		{"fixed point", "fixed a", []string{minusOne}, "a=kind 6: a fixed-point number cannot be compared"},
		{"fixed point too wide", "ufixed8x1 a", []string{"100"}, ""},
		{"empty bytes", "bytes a", []string{"20", "0"}, "a=~0x"},
		{"bytes of a word", "bytes a", []string{"20", "20", allOnes}, "a=~0x" + allOnes},
		{"bytes with dirty padding", "bytes a", []string{"20", "1", "0102…"}, ""},
		{"bytes without padding", "bytes a", []string{"20", "1"}, ""},
		{"bytes longer than the data", "bytes a", []string{"20", "21", allOnes}, ""},
		{"bytes of 2^255", "bytes a", []string{"20", "8" + strings.Repeat("0", 63), "0"}, ""},
		{"bytes of 2^63", "bytes a", []string{"20", "8000000000000000", "0"}, ""},
		{"bytes of 2^31", "bytes a", []string{"20", "80000000", "0"}, ""},
		{"offset into the head", "bytes a", []string{"0"}, ""},
		{"offset after a gap", "bytes a", []string{"40", "0", "0"}, ""},
		{"offset behind the end", "bytes a", []string{"60", "0"}, ""},
		{"offset of 2^64", "bytes a", []string{"10000000000000020", "0"}, ""},
		{"string", "string a", []string{"20", "3", "c3a971…"}, `a="éq"`},
		{"string not UTF-8", "string a", []string{"20", "1", "ff…"}, "a=kind 6: the string is not valid UTF-8"},
		{"empty array", "uint256[] a", []string{"20", "0"}, "a=[]"},
		{"array longer than the data", "uint256[] a", []string{"20", "2", "1"}, ""},
		{"array bomb", "uint256[] a", []string{"20", "ffffffff", "1"}, ""},
		{"array bomb of arrays", "uint256[][] a", []string{"20", "7fffffff", "1"}, ""},
		{"array whose elements share a tail", "bytes[] a", []string{"20", "2", "40", "40", "1", "ff…"}, ""},
		{"array whose tails are swapped", "bytes[] a", []string{"20", "2", "80", "40", "1", "ff…", "1", "ee…"}, ""},
		{"array that contains itself", "uint256[][] a", []string{"20", "1", "0"}, ""},
		{"fixed array", "uint8[2] a", []string{"1", "2"}, "a=[1 2]"},
		{"fixed array cut", "uint8[2] a", []string{"1"}, ""},
		{"fixed array of strings", "string[2] a", []string{"20", "40", "80", "1", "61…", "0"}, `a=["a" ""]`},
		{"two dimensions", "uint8[2][] a", []string{"20", "2", "1", "2", "3", "4"}, "a=[[1 2] [3 4]]"},
		{"tuple", pair, []string{"20", "1", "40", "1", "61…"}, `pair=[~0x0000000000000000000000000000000000000001 "a"]`},
		{"trailing word", "uint256 a", []string{"1", "2"}, ""},
		{"nothing", "uint256 a", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fn("f", c.input)
			call, ok := parse(t, text).Call(words(t, selector(t, text), c.words...))
			if ok != (c.want != "") {
				t.Fatalf("match %v, want %q", ok, c.want)
			}
			if ok && showArgs(call.Args) != c.want {
				t.Errorf("%s, want %s", showArgs(call.Args), c.want)
			}
		})
	}
}

// selector is that of the interface itself, which TestSelectors has checked.
func selector(t *testing.T, text string) string {
	t.Helper()
	return abi.Selectors(parse(t, text))[0]
}

// A string that looks like an address is compared as one.
func TestAddressText(t *testing.T) {
	text := fn("f", "string a", "string b", "string c")
	address := "0xABCDEF0123456789abcdef0123456789abcdef01"
	in := hex.EncodeToString([]byte(address))
	other := hex.EncodeToString([]byte(strings.Replace(address, "A", "G", 1)))
	call, ok := parse(t, text).Call(words(t, selector(t, text), "60", "c0", "120", "2a", in[:64], in[64:]+"…", "2a", other[:64], other[64:]+"…", "3", "305841…"))
	if !ok {
		t.Fatal("no match")
	}
	if diff := cmp.Diff(fact.Map{
		{Name: "a", Value: fact.Value{Kind: fact.Text, Fold: true, Text: address}},
		{Name: "b", Value: fact.Value{Kind: fact.Text, Text: strings.Replace(address, "A", "G", 1)}},
		{Name: "c", Value: fact.Value{Kind: fact.Text, Text: "0XA"}},
	}, call.Args); diff != "" {
		t.Error(diff)
	}
}

func TestNoMatch(t *testing.T) {
	i := parse(t, fn("transfer", "address to", "uint256 amount"))
	good := words(t, "a9059cbb", "1", "2")
	if _, ok := i.Call(good); !ok {
		t.Fatal("a good call does not match")
	}
	for n := range good {
		if _, ok := i.Call(good[:n]); ok {
			t.Errorf("the first %d bytes match", n)
		}
	}
	for name, data := range map[string][]byte{
		"nil":              nil,
		"another selector": words(t, "a9059cbc", "1", "2"),
		"a byte too much":  append(good, 0),
	} {
		if _, ok := i.Call(data); ok {
			t.Errorf("%s matches", name)
		}
	}
	if _, ok := parse(t, "[]").Call(good); ok {
		t.Error("an interface without functions matches")
	}
}

func TestOverloads(t *testing.T) {
	i := parse(t, `[
		{"type":"function","name":"f","inputs":[{"name":"a","type":"uint256"}]},
		{"type":"function","name":"f","inputs":[{"name":"","type":"uint256"},{"name":"b","type":"bool"}]},
		{"type":"function","name":"f","inputs":[{"name":"a","type":"uint256"}],"outputs":[{"name":"","type":"bool"}]},
		{"type":"fallback","stateMutability":"payable"},
		{"type":"receive"},{"type":"constructor","inputs":[{"type":"uint256"}]},
		{"type":"event","name":"E","inputs":[{"type":"nonsense"}],"anonymous":false},
		{"type":"error","name":"X","inputs":[]},
		{"name":"g","inputs":[],"constant":true,"payable":false,"stateMutability":"view"}
	]`)
	if n := len(abi.Selectors(i)); n != 3 {
		t.Errorf("%d functions, want 3", n)
	}
	for _, c := range []struct {
		name, selector string
		words          []string
		want           string
	}{
		{"f(uint256)", "b3de648b", []string{"7"}, "f a=7"},
		{"f(uint256,bool)", selector(t, fn("f", "uint256 x", "bool y")), []string{"7", "1"}, "f 0=7 b=true"},
		{"g()", "e2179b8e", nil, "g "},
	} {
		t.Run(c.name, func(t *testing.T) {
			call, ok := i.Call(words(t, c.selector, c.words...))
			if !ok {
				t.Fatal("no match")
			}
			if got := call.Name + " " + showArgs(call.Args); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	deep := `{"name":"","type":"uint8"}`
	for range 40 {
		deep = `{"name":"","type":"tuple","components":[` + deep + `]}`
	}
	inputs := func(all string) string { return `[{"type":"function","name":"f","inputs":[` + all + `]}]` }
	for _, c := range []struct{ name, abi, want string }{
		{"empty", "", "the JSON is broken at byte 0"},
		{"not JSON", "abi", "the JSON is broken at byte 0"},
		{"an artifact", ` {"abi":[]}`, "send only its member abi"},
		{"cut", `[{"type":`, "the JSON is broken"},
		{"two documents", "[] []", "the JSON is broken at byte 3"},
		{"not UTF-8", "[{\"name\":\"\xff\"}]", "the JSON is broken"},
		{"a member twice", `[{"type":"event","type":"function"}]`, "duplicate"},
		{"too long", "[" + strings.Repeat(" ", abi.MaxCharacters) + "]", "it has 400002 characters; at most 400000 are accepted"},
		{"an entry that is text", `["f"]`, "/0: expected an object"},
		{"a null entry", `[null]`, "/0: the function has no name"},
		{"inputs an object", `[{"type":"function","name":"f","inputs":{}}]`, "/0/inputs: expected an array"},
		{"a name that is a number", inputs(`{"name":1,"type":"bool"}`), "/0/inputs/0/name: expected a string"},
		{"an unknown entry", `[{"type":"functon","name":"f","inputs":[]}]`, `/0: unknown type "functon"`},
		{"no name", `[{"type":"function","inputs":[]}]`, "/0: the function has no name"},
		{"a name with a signature in it", fn("f(uint256)"), `/0: "f(uint256)" cannot be the name of a function`},
		{"no inputs", `[{"type":"function","name":"f"}]`, "/0: inputs is missing"},
		{"a parameter without a name", `[{"type":"event"},` + inputs(`{"name":"","type":"bool"},{"type":"bool"}`)[1:], "/1/inputs/1: name is missing"},
		{"a parameter with a null name", inputs(`{"name":null,"type":"bool"}`), "/0/inputs/0: name is missing"},
		{"an output without a name", `[{"type":"function","name":"f","inputs":[],"outputs":[{"type":"bool"}]}]`, "/0/outputs/0: name is missing"},
		{"a component without a name", inputs(`{"name":"","type":"tuple[]","components":[{"name":"a","type":"bool"},{"type":"bool"}]}`), "/0/inputs/0/components/1: name is missing"},
		{"a component of an output without a name", `[{"type":"function","name":"f","inputs":[],"outputs":[{"name":"","type":"tuple","components":[{"type":"bool"}]}]}]`, "/0/outputs/0/components/0: name is missing"},
		{"no type", inputs(`{"name":""}`), "/0/inputs/0: type is missing"},
		{"the same name twice", fn("f", "bool a", "bool a"), `/0/inputs/1: another parameter has the name "a"`},
		{"a name like a position", fn("f", "bool 1", "bool "), `/0/inputs/1: another parameter has the name "1"`},
		{"a tuple without components", fn("f", "tuple a"), "/0/inputs/0: a tuple needs components"},
		{"components of an integer", inputs(`{"name":"","type":"uint8","components":[{"name":"","type":"bool"}]}`), `/0/inputs/0: only a tuple has components, not "uint8"`},
		{"nested too deep", inputs(deep), "nested deeper than 32 levels"},
		{"too many dimensions", fn("f", "bool"+strings.Repeat("[]", 40)+" a"), "too many dimensions"},
		{"an array larger than a transaction", fn("f", "bool[999][999] a"), "larger than a transaction"},
		{"a collision", strings.TrimSuffix(fn("collate_propagate_storage", "bytes16 x"), "]") + "," + strings.TrimPrefix(fn("burn", "uint256 amount"), "["), "have the same selector"},
		{"twice with other names", strings.TrimSuffix(fn("f", "bool a"), "]") + "," + strings.TrimPrefix(fn("f", "bool b"), "["), "/1: f(bool) is there twice with different parameter names"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := abi.Parse(c.abi)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.HasPrefix(err.Error(), "provided ABI is invalid: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q, want %q in it", err, c.want)
			}
		})
	}
	for _, kind := range []string{
		"", "Uint256", "uint7", "uint0", "uint08", "uint264", "int512", "bytes0", "bytes33", "bytes01", "address payable",
		"contract IERC20", "tuple2", "byte", "fixed128", "fixed128x81", "fixed7x1", "uint256[0]", "uint256[01]", "uint256[-1]",
		"uint256[", "uint256]", "uint256[]x", "uint256[][", "uint256[1000000]", " uint256", "uint256 ", "[]", "mapping(address=>uint256)",
	} {
		if _, err := abi.Parse(inputs(fmt.Sprintf(`{"name":"","type":%q}`, kind))); err == nil {
			t.Errorf("the type %q is accepted", kind)
		}
	}
}

func TestLongest(t *testing.T) {
	one := strings.TrimSuffix(strings.TrimPrefix(fn("f", "uint256 é"), "["), "]")
	text := "[" + one + strings.Repeat(" ", abi.MaxCharacters-len([]rune(one))-2) + "]"
	if _, err := abi.Parse(text); err != nil {
		t.Errorf("%d characters are refused: %v", len([]rune(text)), err)
	}
}
