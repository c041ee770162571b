package address

import "testing"

func BenchmarkOf(b *testing.B) {
	keys := map[string][]byte{"CURVE_SECP256K1": unhex(b, k256Key), "CURVE_ED25519": unhex(b, edwardsKey)}
	for _, f := range []Format{Compressed, Ethereum, BitcoinMainnetP2WPKH, BitcoinMainnetP2TR, Solana, XLM, TONV4R2, XRP} {
		c := f.Curves()[0]
		b.Run(string(f), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Of(f, c, keys[string(c)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
