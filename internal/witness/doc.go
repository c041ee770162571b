// Package witness is a witness of transparency logs, C2SP tlog-witness, and the
// client that a log asks for cosignatures.
//
// A witness cosigns a checkpoint of a log that it knows only if a proof shows that
// it continues the last one that it cosigned. That one is on disk, flushed, before
// the cosignature leaves: a witness that is killed at any moment never cosigns two
// trees of which neither continues the other. One process a folder, by a lock. What
// a log signed that contradicts what the witness has cosigned is kept as evidence.
//
// The folder holds: witness.key (the two private keys, mode 0600), witness.json (name
// and verifier keys, for others), witness.lock, the newest cosigned checkpoint of
// each log as state/HASH, and evidence/HASH-…, where HASH is SHA-256 of the origin.
// The folder is the witness's memory: an older copy of it that is put back can be
// made to cosign a fork.
//
// The private keys are in this package's memory as plain bytes. They say only what a
// witness has seen; nothing that Latchkey guards rests on them alone.
package witness
