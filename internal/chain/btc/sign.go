package btc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// Kind is the kind of address that a key signs for.
type Kind int

// The kinds whose inputs can be signed.
const (
	P2PKH  Kind = iota + 1
	P2WPKH      // BIP-141, version 0
	P2TR        // BIP-86: the key path, without scripts
)

// ToSign is an input that must be signed. The signature is ECDSA, or for P2TR
// BIP-340 with the key tweaked as BIP-341 says.
type ToSign struct {
	Input  int
	Kind   Kind
	Digest [32]byte
}

// ToSign finds the inputs that belong to the address of a compressed public
// key and says what must be signed. It is an error if there is none.
func (tx *Tx) ToSign(publicKey [33]byte, kind Kind) ([]ToSign, error) {
	script, err := scriptOf(publicKey, kind)
	if err != nil {
		return nil, err
	}
	// Once for all inputs: what the digests share costs the whole transaction.
	fetcher := tx.fetcher()
	hashes := txscript.NewTxSigHashes(tx.msg, fetcher)
	var all []ToSign
	for i, in := range tx.Inputs {
		if !in.Known || !bytes.Equal(in.Script, script) {
			continue
		}
		digest, err := tx.digest(i, kind, hashes, fetcher)
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		all = append(all, ToSign{Input: i, Kind: kind, Digest: digest})
	}
	if len(all) == 0 {
		return nil, tx.whyNone(publicKey)
	}
	return all, nil
}

// whyNone says why no input can be signed.
func (tx *Tx) whyNone(publicKey [33]byte) error {
	for i, in := range tx.Inputs {
		s := tx.input(i)
		_, redeem := s.get(inRedeemScript)
		_, witness := s.get(inWitnessScript)
		internal, _ := s.get(inTapInternalKey)
		switch {
		case !in.Known:
			return fmt.Errorf("no input belongs to the signer; input %d has neither non_witness_utxo nor witness_utxo", i)
		case redeem || txscript.IsPayToScriptHash(in.Script):
			return fmt.Errorf("input %d is P2SH, which is not supported; use P2PKH, P2WPKH or P2TR", i)
		case witness || txscript.IsPayToWitnessScriptHash(in.Script):
			return fmt.Errorf("input %d is P2WSH, which is not supported; use P2PKH, P2WPKH or P2TR", i)
		case txscript.IsPayToTaproot(in.Script) && bytes.Equal(internal, publicKey[1:]):
			if ours, err := scriptOf(publicKey, P2TR); err == nil && !bytes.Equal(in.Script, ours) {
				return fmt.Errorf("input %d is a P2TR output with scripts, which is not supported", i)
			}
		}
	}
	return errors.New("no input belongs to the signer")
}

// scriptOf is the output script of the key's address.
func scriptOf(publicKey [33]byte, kind Kind) ([]byte, error) {
	key, err := btcec.ParsePubKey(publicKey[:])
	if err != nil {
		return nil, errors.New("the public key is not a compressed secp256k1 key")
	}
	hash := btcutil.Hash160(publicKey[:])
	switch kind {
	case P2PKH:
		script := append([]byte{txscript.OP_DUP, txscript.OP_HASH160, txscript.OP_DATA_20}, hash...)
		return append(script, txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG), nil
	case P2WPKH:
		return append([]byte{txscript.OP_0, txscript.OP_DATA_20}, hash...), nil
	case P2TR:
		output := schnorr.SerializePubKey(txscript.ComputeTaprootKeyNoScript(key))
		return append([]byte{txscript.OP_1, txscript.OP_DATA_32}, output...), nil
	}
	return nil, errors.New("this kind of address cannot sign a PSBT; use P2PKH, P2WPKH or P2TR")
}

// digest is what must be signed for input i, which is ours.
func (tx *Tx) digest(i int, kind Kind, hashes *txscript.TxSigHashes, fetcher txscript.PrevOutputFetcher) ([32]byte, error) {
	if err := tx.checkSignable(i, kind); err != nil {
		return [32]byte{}, err
	}
	script := tx.Inputs[i].Script
	var digest []byte
	var err error
	switch kind {
	case P2PKH:
		digest, err = txscript.CalcSignatureHash(script, txscript.SigHashAll, tx.msg, i)
	case P2WPKH: // BIP-143
		digest, err = txscript.CalcWitnessSigHash(script, hashes, txscript.SigHashAll, tx.msg, i, tx.Inputs[i].Amount)
	case P2TR: // BIP-341
		digest, err = txscript.CalcTaprootSignatureHash(hashes, txscript.SigHashDefault, tx.msg, i, fetcher)
	}
	if err != nil || len(digest) != 32 {
		return [32]byte{}, errors.New("the digest cannot be computed")
	}
	return [32]byte(digest), nil
}

// checkSignable refuses what we would sign differently than asked.
func (tx *Tx) checkSignable(i int, kind Kind) error {
	s := tx.input(i)
	_, finalSig := s.get(inFinalScriptSig)
	_, finalWitness := s.get(inFinalWitness)
	root, _ := s.get(inTapMerkleRoot)
	if finalSig || finalWitness {
		return errors.New("the input is already finalised")
	}
	want, name := uint32(txscript.SigHashAll), "SIGHASH_ALL"
	if kind == P2TR {
		want, name = uint32(txscript.SigHashDefault), "SIGHASH_DEFAULT"
	}
	if b, ok := s.get(inSighashType); ok && (len(b) != 4 || binary.LittleEndian.Uint32(b) != want) {
		return fmt.Errorf("the PSBT asks for another sighash type than %s", name)
	}
	switch {
	case kind == P2PKH && !tx.Inputs[i].Proven:
		// Without it the amount could be false: the digest does not cover it.
		return errors.New("a legacy input needs non_witness_utxo")
	case kind == P2TR && len(root) > 0:
		return errors.New("the input has scripts; only the key path without scripts is supported")
	case kind == P2TR:
		for j, in := range tx.Inputs { // BIP-341: the digest covers them all
			if !in.Known {
				return fmt.Errorf("a taproot signature needs witness_utxo or non_witness_utxo of every input; input %d has none", j)
			}
		}
	}
	return nil
}

// fetcher gives the outputs that are spent; an unknown one, which no digest of
// ours covers, is empty.
func (tx *Tx) fetcher() txscript.PrevOutputFetcher {
	outputs := map[wire.OutPoint]*wire.TxOut{}
	for i, in := range tx.Inputs {
		outputs[tx.msg.TxIn[i].PreviousOutPoint] = &wire.TxOut{Value: in.Amount, PkScript: in.Script}
	}
	return txscript.NewMultiPrevOutFetcher(outputs)
}

// AddSignature puts in a signature over the digest that [Tx.ToSign] gave for this
// input and key: a partial signature, or for P2TR the key path signature. One
// that this key made before is replaced.
func (tx *Tx) AddSignature(input int, r, s [32]byte, publicKey [33]byte) error {
	if input < 0 || input >= len(tx.Inputs) {
		return fmt.Errorf("there is no input %d", input)
	}
	for _, kind := range []Kind{P2PKH, P2WPKH, P2TR} {
		script, err := scriptOf(publicKey, kind)
		if err != nil {
			return err
		}
		if !tx.Inputs[input].Known || !bytes.Equal(tx.Inputs[input].Script, script) {
			continue
		}
		if err := tx.checkSignable(input, kind); err != nil {
			return fmt.Errorf("input %d: %w", input, err)
		}
		key, value := []byte{inTapKeySig}, append(r[:], s[:]...) // BIP-371; 64 bytes say SIGHASH_DEFAULT
		if kind != P2TR {
			if value, err = der(r, s); err != nil {
				return err
			}
			key, value = append([]byte{inPartialSig}, publicKey[:]...), append(value, byte(txscript.SigHashAll))
		}
		tx.sections[1+input] = tx.input(input).set(key, value)
		return nil
	}
	return fmt.Errorf("input %d does not belong to this key", input)
}

// der encodes an ECDSA signature (BIP-66).
func der(r, s [32]byte) ([]byte, error) {
	var rs, ss btcec.ModNScalar
	if rs.SetBytes(&r) != 0 || ss.SetBytes(&s) != 0 || rs.IsZero() || ss.IsZero() {
		return nil, errors.New("the signature is out of range")
	}
	return ecdsa.NewSignature(&rs, &ss).Serialize(), nil
}
