package sealfile

import (
	"errors"

	"latchkey/internal/keys/vault/internal/secret"
)

// Shamir's scheme over GF(2⁸) with the polynomial of AES, byte by byte: a share is
// the value at its index of a random polynomial whose value at 0 is the secret.
// Without tables, because the time to look something up in one can tell what.

// split makes the shares of a secret, the first for index 1, of which any threshold
// give it back.
func split(pool *secret.Pool, plain *secret.Bytes, threshold, shares int) []*secret.Bytes {
	size := plain.Len()
	coefficients := pool.Random((threshold - 1) * size)
	defer coefficients.Wipe()
	made := make([]*secret.Bytes, shares)
	for i := range made {
		made[i] = pool.New(size)
		x := byte(i + 1)
		for at := range size {
			y := byte(0)
			for degree := threshold - 2; degree >= 0; degree-- {
				y = multiply(y, x) ^ coefficients.Raw()[degree*size+at]
			}
			made[i].Raw()[at] = multiply(y, x) ^ plain.Raw()[at]
		}
	}
	return made
}

// combine is the value at 0 of the polynomial through shares, by their indexes.
func combine(pool *secret.Pool, shares map[byte]*secret.Bytes) (*secret.Bytes, error) {
	var plain *secret.Bytes
	for x, share := range shares {
		if plain == nil {
			plain = pool.New(share.Len())
		}
		if x == 0 || share.Len() != plain.Len() {
			plain.Wipe()
			return nil, errors.New("sealfile: shares that do not belong together")
		}
		weight := byte(1)
		for other := range shares {
			if other != x {
				weight = multiply(weight, multiply(other, inverse(other^x)))
			}
		}
		for at, y := range share.Raw() {
			plain.Raw()[at] ^= multiply(y, weight)
		}
	}
	if plain == nil {
		return nil, errors.New("sealfile: no shares")
	}
	return plain, nil
}

func multiply(a, b byte) (product byte) {
	for range 8 {
		product ^= -(b & 1) & a
		a = a<<1 ^ -(a>>7)&0x1b
		b >>= 1
	}
	return product
}

// inverse is a to the power of 254.
func inverse(a byte) byte {
	result, power := byte(1), a
	for range 7 {
		power = multiply(power, power)
		result = multiply(result, power)
	}
	return result
}
