// Package translog is the part of the transparency log that needs no database:
// what an entry says, the Merkle tree over entries, checkpoints, receipts, and how
// all of them are verified offline.
//
// Formats. The tree is that of RFC 6962. Tiles, checkpoints, signatures,
// cosignatures and proofs are those of C2SP: tlog-tiles, tlog-checkpoint,
// signed-note, tlog-cosignature and tlog-proof. golang.org/x/mod/sumdb has the
// mathematics of the tree and the notes; nothing of it is done again here.
//
// An entry is SHA-256 of 32 random bytes of salt and the text of a [Record]. Only
// its hash is in the tree, so that the published log says nothing about what
// happened, nor to which organization.
//
// Tiles. The tree is kept as tiles of 256 hashes, and every level is stored, a
// partial tile too: [Tree.Append] returns the tiles that changed. Level 0 changes
// with every batch, level 1 with every 256th entry, level 2 with every 65,536th, so
// the levels above 0 add 16 bytes of writing an entry on average. In return a tree
// of any size is loaded, and its root computed, from one tile a level: three for
// ten million entries. Deriving the upper levels instead would read all level-0
// tiles at start (320 MB for ten million entries), or 255 of them a level if only
// full ones were stored.
//
// Trust. Tiles come from a database that others may have written to. Proofs are
// made against a [Head] whose root the caller trusts, and every tile that goes into
// one is checked against that root first: a damaged tile gives an error, never a
// wrong proof. [LoadTree] has nothing to check against; its caller compares the
// root with a signed checkpoint.
//
// Keys. A log signs with two keys whose name is its origin: Ed25519 (signature
// type 0x01) and ML-DSA-44 (type 0x06). Witnesses sign with types 0x04 and 0x06.
// A verifier who names keys wants each of them to have signed: leaving one
// signature out is how one of two algorithms would be got around.
package translog
