// Package btc reads PSBTs, version 0 (BIP-174): it finds the inputs that a key
// can sign, says which digests must be signed, and puts the signatures in as
// partial signatures. It holds no secret, does not sign and does not finalise.
//
// A PSBT is kept as the list of key-value pairs that it is, in the order they
// came, so that [Tx.Encode] gives back every byte of it, fields of others and of the
// future included; only our signatures are added. BIP-174 fixes no order of the
// pairs in a map, so any order is accepted. Refused are lengths that are not in
// their shortest form, repeated keys, data after the last map, and transactions
// inside that are not exactly as long as they say.
//
// The pairs are read here and not by btcutil/psbt, because that package panics
// on some malformed key origins and allocates by counts it has not checked. The
// tests use it as a second opinion.
//
// Supported are P2PKH and P2WPKH with SIGHASH_ALL and the key path of P2TR with
// SIGHASH_DEFAULT. Wrapped (P2SH), P2WSH and script path spends are refused.
// Every error is safe to show to the client.
package btc
