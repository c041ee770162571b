package witness

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"latchkey/internal/secretfile"
	"latchkey/internal/translog"
)

// maxEvidence bounds the files of one log. Anyone who has a checkpoint of the log can
// send it with a wrong proof; the first cases are enough to be alarmed.
const maxEvidence = 100

// remember keeps two checkpoints that a log has signed and that do not fit. Both
// carry the log's signature, so that the file alone convinces others.
func (w *Witness) remember(cosigned, offered *translog.Signed, what string) {
	w.log.Error("a checkpoint is refused", "reason", what, "origin", offered.Origin,
		"cosignedSize", cosigned.Size, "cosignedRoot", cosigned.Root.String(), "offeredSize", offered.Size, "offeredRoot", offered.Root.String())
	text := fmt.Sprintf("%s\n\ncosigned:\n\n%s\noffered:\n\n%s", what, cosigned.Note(), offered.Note())
	if err := w.keepEvidence(offered.Origin, text); err != nil {
		w.log.Error("evidence could not be kept", "error", err)
	}
}

// keepEvidence writes a case once: its file is named by what it says.
func (w *Witness) keepEvidence(origin, text string) error {
	sum := sha256.Sum256([]byte(withoutSignatures(text)))
	path := filepath.Join(w.dir, "evidence", OriginHash(origin)+"-"+hex.EncodeToString(sum[:8]))
	files, err := filepath.Glob(filepath.Join(w.dir, "evidence", OriginHash(origin)+"-*"))
	if err != nil || len(files) >= maxEvidence {
		return err
	}
	err = secretfile.Create(path, []byte(text))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// withoutSignatures leaves out what has a time: the same case comes again with others.
func withoutSignatures(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "— ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
