package sign

import "filippo.io/mldsa"

// MLDSA44 signs a message with ML-DSA-44, FIPS 204, with a seed and the public key
// that was computed from it, and verifies the signature before it leaves: a fault in
// the lattice arithmetic can give the key away too. The expanded key lives on the
// heap for the time of one signature.
func MLDSA44(seed, public, message []byte) ([]byte, error) {
	private, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), seed)
	if err != nil {
		return nil, errKey
	}
	signature, err := private.Sign(nil, message, nil)
	if err != nil {
		return nil, err
	}
	known, err := mldsa.NewPublicKey(mldsa.MLDSA44(), public)
	if err != nil || mldsa.Verify(known, message, signature, nil) != nil {
		return nil, errFault
	}
	return signature, nil
}

// MLDSA44Public computes the public key of a seed.
func MLDSA44Public(seed []byte) ([]byte, error) {
	private, err := mldsa.NewPrivateKey(mldsa.MLDSA44(), seed)
	if err != nil {
		return nil, errKey
	}
	return private.PublicKey().Bytes(), nil
}
