package stamp

import "errors"

// VerifyRecorded checks a signature once more that a vote has recorded: publicKey
// and signature are the texts of the vote, message is what was signed.
//
// Of a passkey the vote has no origins and no relying party: what the
// authenticator itself signed of these is taken as it is.
func (v *Verifier) VerifyRecorded(scheme Scheme, publicKey, signature string, message []byte) error {
	if scheme == Webauthn {
		return v.verifyRecordedPasskey(publicKey, signature, message)
	}
	s := &Stamp{Scheme: scheme, PublicKey: publicKey, Signature: signature}
	size := scheme.Curve().KeySize()
	if size == 0 {
		return errors.New("its scheme is not known")
	}
	if err := s.decode(size); err != nil {
		return err
	}
	return v.VerifyAPIKey(s, message)
}

func (v *Verifier) verifyRecordedPasskey(publicKey, signature string, message []byte) error {
	s, err := readWebauthn(signature)
	if err != nil {
		return err
	}
	key, err := fromBase64(publicKey)
	if err != nil {
		return err
	}
	_, err = v.VerifyPasskey(s, message, Passkey{COSEKey: key, RPIDHash: s.passkey.rpIDHash()})
	return err
}
