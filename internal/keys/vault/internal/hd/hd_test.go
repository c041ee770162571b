package hd

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/vault/internal/secret"
)

const (
	seed1 = "000102030405060708090a0b0c0d0e0f"
	seed2 = "fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a29f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542"
	// BIP-32 vectors 3 and 4 are about leading zeros.
	seed3 = "4b381541583be4423346c643850da4b320e46a87ae3d2a4e6da11eba819cd4acba45d239319ac14f863b8d5ab5a0d0c64d2e8a1e7d1457df2e5a3c51c73235be"
	seed4 = "3ddd5602285899a946114506157c7997e5444528f3003f6134712147db19b678"
	// SLIP-0010: the first hash of this seed is no key on P-256.
	seedRetry = "a7305bc8df8d0951f0cb224c0e95d7707cbdf2c6ce7e8d481fec69c7ff5e9446"
)

// published are test vectors of BIP-32 (1 to 4) and SLIP-0010.
var published = []struct {
	curve                       curve.KeyCurve
	seed, path, private, public string
}{
	{curve.KeySecp256k1, seed1, "m", "e8f32e723decf4051aefac8e2c93c9c5b214313817cdb01a1494b917c8436b35", "0339a36013301597daef41fbe593a02cc513d0b55527ec2df1050e2e8ff49c85c2"},
	{curve.KeySecp256k1, seed1, "m/0'", "edb2e14f9ee77d26dd93b4ecede8d16ed408ce149b6cd80b0715a2d911a0afea", "035a784662a4a20a65bf6aab9ae98a6c068a81c52e4b032c0fb5400c706cfccc56"},
	{curve.KeySecp256k1, seed1, "m/0'/1", "3c6cb8d0f6a264c91ea8b5030fadaa8e538b020f0a387421a12de9319dc93368", "03501e454bf00751f24b1b489aa925215d66af2234e3891c3b21a52bedb3cd711c"},
	{curve.KeySecp256k1, seed1, "m/0'/1/2'/2/1000000000", "471b76e389e528d6de6d816857e012c5455051cad6660850e58372a6c3e6e7c8", "022a471424da5e657499d1ff51cb43c47481a03b1e77f951fe64cec9f5a48f7011"},
	{curve.KeySecp256k1, seed2, "m/0/2147483647'/1/2147483646'/2", "bb7d39bdb83ecf58f2fd82b6d918341cbef428661ef01ab97c28a4842125ac23", "024d902e1a2fc7a8755ab5b694c575fce742c48d9ff192e63df5193e4c7afe1f9c"},
	{curve.KeySecp256k1, seed3, "m/0'", "", "026557fdda1d5d43d79611f784780471f086d58e8126b8c40acb82272a7712e7f2"},
	{curve.KeySecp256k1, seed4, "m/0'/1'", "", "032edaf9e591ee27f3c69c36221e3c54c38088ef34e93fbb9bb2d4d9b92364cbbd"},

	{curve.KeyEd25519, seed1, "m", "2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7", "a4b2856bfec510abab89753fac1ac0e1112364e7d250545963f135f2a33188ed"},
	{curve.KeyEd25519, seed1, "m/0'/1'/2'/2'/1000000000'", "8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793", "3c24da049451555d51a7014a37337aa4e12d41e485abccfa46b47dfb2af54b7a"},
	{curve.KeyEd25519, seed1, "m/0/1/2'/2/1000000000", "8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793", "3c24da049451555d51a7014a37337aa4e12d41e485abccfa46b47dfb2af54b7a"}, // ours: all parts are hardened
	{curve.KeyEd25519, seed2, "m/0'/2147483647'/1'/2147483646'/2'", "551d333177df541ad876a60ea71f00447931c0a9da16f227c11ea080d7391b8d", "47150c75db263559a70d5778bf36abbab30fb061ad69f69ece61a72b0cfa4fc0"},

	{curve.KeyP256, seed1, "m", "612091aaa12e22dd2abef664f8a01a82cae99ad7441b7ef8110424915c268bc2", "0266874dc6ade47b3ecd096745ca09bcd29638dd52c2c12117b11ed3e458cfa9e8"},
	{curve.KeyP256, seed1, "m/0'", "6939694369114c67917a182c59ddb8cafc3004e63ca5d3b84403ba8613debc0c", "0384610f5ecffe8fda089363a41f56a5c7ffc1d81b59a612d0d649b2d22355590c"},
	{curve.KeyP256, seed1, "m/0'/1", "284e9d38d07d21e4e281b645089a94f4cf5a5a81369acf151a1c3a57f18b2129", "03526c63f8d0b4bbbf9c80df553fe66742df4676b241dabefdef67733e070f6844"},
	{curve.KeyP256, seed1, "m/0'/1/2'/2/1000000000", "21c4f269ef0a5fd1badf47eeacebeeaa3de22eb8e5b0adcd0f27dd99d34d0119", "02216cd26d31147f72427a453c443ed2cde8a1e53c9cc44e5ddf739725413fe3f4"},
	{curve.KeyP256, seed1, "m/28578'", "06f0db126f023755d0b8d86d4591718a5210dd8d024e3e14b6159d63f53aa669", "02519b5554a4872e8c9c1c847115363051ec43e93400e030ba3c36b52a3e70a5b7"},
	{curve.KeyP256, seed1, "m/28578'/33941", "092154eed4af83e078ff9b84322015aefe5769e31270f62c3f66c33888335f3a", "0235bfee614c0d5b2cae260000bb1d0d84b270099ad790022c1ae0b2e782efe120"}, // the child hashes again
	{curve.KeyP256, seedRetry, "m", "3b8c18469a4634517d6d0b65448f8e6c62091b45540a1743c5846be55d47d88f", "0383619fadcde31063d8c5cb00dbfe1713f3e6fa169d8541a798752a1c1ca0cb20"},          // the root hashes again
}

func parsePath(t testing.TB, text string) (path []uint32) {
	t.Helper()
	for _, part := range strings.Split(text, "/")[1:] {
		digits, isHardened := strings.CutSuffix(part, "'")
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil {
			t.Fatal(err)
		}
		if isHardened {
			n |= hardened
		}
		path = append(path, uint32(n))
	}
	return path
}

func TestPublishedVectors(t *testing.T) {
	var pool secret.Pool
	defer pool.Close()
	for _, tc := range published {
		t.Run(string(tc.curve)+" "+tc.seed[:4]+" "+tc.path, func(t *testing.T) {
			seed, err := hex.DecodeString(tc.seed)
			if err != nil {
				t.Fatal(err)
			}
			key, err := Derive(&pool, Below(&pool, seed, tc.curve), tc.curve, parsePath(t, tc.path))
			if err != nil {
				t.Fatal(err)
			}
			defer key.Wipe()
			if got := hex.EncodeToString(key.Raw()); tc.private != "" && got != tc.private {
				t.Errorf("private key %s, want %s", got, tc.private)
			}
			public, err := Public(tc.curve, key.Raw())
			if got := hex.EncodeToString(public); err != nil || got != tc.public {
				t.Errorf("public key %s, %v, want %s", got, err, tc.public)
			}
		})
	}
}

func TestUnknownCurve(t *testing.T) {
	var pool secret.Pool
	if _, err := Derive(&pool, Below(&pool, nil, "CURVE"), "CURVE", nil); err == nil {
		t.Error("Derive accepts it")
	}
	if _, err := Public("CURVE", make([]byte, keySize)); err == nil {
		t.Error("Public accepts it")
	}
}

func TestPublicRefusesWhatIsNoKey(t *testing.T) {
	orders := map[curve.KeyCurve]string{
		curve.KeySecp256k1: "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
		curve.KeyP256:      "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
	}
	for c, text := range orders {
		n, ok := new(big.Int).SetString(text, 16)
		if !ok {
			t.Fatal(text)
		}
		one := big.NewInt(1)
		for _, tc := range []struct {
			name  string
			value *big.Int
			good  bool
		}{
			{"0", new(big.Int), false},
			{"1", one, true},
			{"n-1", new(big.Int).Sub(n, one), true},
			{"n", n, false},
			{"n+1", new(big.Int).Add(n, one), false},
		} {
			if _, err := Public(c, tc.value.FillBytes(make([]byte, keySize))); (err == nil) != tc.good {
				t.Errorf("%s %s: %v", c, tc.name, err)
			}
		}
	}
	for c := range map[curve.KeyCurve]bool{curve.KeySecp256k1: true, curve.KeyP256: true, curve.KeyEd25519: true} {
		for _, size := range []int{0, 31, 33, 64} {
			if _, err := Public(c, make([]byte, size)); err == nil {
				t.Errorf("%s takes %d bytes", c, size)
			}
		}
	}
}

// The additions agree with math/big, near the edges too.
func TestAdd(t *testing.T) {
	for name, tc := range map[string]struct {
		add   func(key, tweak []byte) bool
		order string
	}{
		"secp256k1": {addSecp256k1, "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"},
		"P-256":     {addP256, "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"},
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			n, _ := new(big.Int).SetString(tc.order, 16)
			number := func(label string) *big.Int {
				v := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), keySize, keySize).Draw(t, label))
				near := big.NewInt(int64(rapid.IntRange(-3, 3).Draw(t, label+" near n")))
				if rapid.Bool().Draw(t, label+" at the edge") {
					return near.Add(near, n)
				}
				return v
			}
			key, tweak := number("key"), number("tweak")
			key.Mod(key, n) // a key is below n
			buffer := key.FillBytes(make([]byte, keySize))
			before := string(buffer)
			ok := tc.add(buffer, tweak.FillBytes(make([]byte, keySize)))
			want := new(big.Int).Add(key, tweak)
			want.Mod(want, n)
			if good := tweak.Cmp(n) < 0 && want.Sign() > 0; ok != good {
				t.Fatalf("add: %v, want %v", ok, good)
			}
			if ok && new(big.Int).SetBytes(buffer).Cmp(want) != 0 {
				t.Fatalf("sum %x, want %x", buffer, want)
			}
			if !ok && string(buffer) != before {
				t.Fatal("the key was changed by an addition that failed")
			}
		}))
	}
}

func TestExpandAndCompress(t *testing.T) {
	var pool secret.Pool
	defer pool.Close()
	for range 8 { // both parities
		key := pool.Random(keySize)
		short, err := Public(curve.KeyP256, key.Raw())
		if err != nil {
			t.Fatal(err)
		}
		long := Expand(short)
		if string(Compress(long)) != string(short) || string(Expand(long)) != string(long) {
			t.Errorf("%x does not come back", short)
		}
	}
	for name, point := range map[string][]byte{
		"nothing": {}, "infinity": {0}, "zeros": make([]byte, 65), "short zeros": make([]byte, 33),
		"x too large": append([]byte{2}, []byte(strings.Repeat("\xff", 32))...),
		"off curve":   append([]byte{4}, make([]byte, 64)...),
	} {
		if Expand(point) != nil {
			t.Errorf("%s is taken for a point", name)
		}
	}
}
