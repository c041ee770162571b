package translog

import (
	"errors"
	"fmt"
	"strings"
)

const proofHeader = "c2sp.org/tlog-proof@v1\n"

// maxHashes bounds a proof: a tree is not higher.
const maxHashes = 63

// proofText writes C2SP tlog-proof, without extra data.
func proofText(index int64, inclusion []Hash, checkpoint []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, proofHeader+"index %d\n", index)
	for _, h := range inclusion {
		fmt.Fprintf(&b, "%s\n", h)
	}
	b.WriteString("\n")
	b.Write(checkpoint)
	return b.String()
}

// parseProof reads what proofText writes.
func parseProof(text string) (index int64, inclusion []Hash, checkpoint []byte, err error) {
	rest, found := strings.CutPrefix(text, proofHeader)
	if !found {
		return 0, nil, nil, fmt.Errorf("proof: its first line is not %s", strings.TrimSpace(proofHeader))
	}
	if strings.HasPrefix(rest, "extra ") {
		return 0, nil, nil, errors.New("proof: it has extra data; the proof of a receipt has none")
	}
	path, note, found := strings.Cut(rest, "\n\n")
	if !found {
		return 0, nil, nil, errors.New("proof: there is no checkpoint after it")
	}
	first, hashes, _ := strings.Cut(path, "\n")
	number, found := strings.CutPrefix(first, "index ")
	if !found {
		return 0, nil, nil, fmt.Errorf("proof: its second line is %.40q, not the index of the entry", first)
	}
	if index, err = parseSize(number); err != nil {
		return 0, nil, nil, fmt.Errorf("proof: the index: %w", err)
	}
	if inclusion, err = ParseHashes(hashes); err != nil {
		return 0, nil, nil, fmt.Errorf("proof: %w", err)
	}
	return index, inclusion, []byte(note), nil
}

// ParseHashes reads hashes in base64, one a line, as proofs have them.
func ParseHashes(text string) ([]Hash, error) {
	var all []Hash
	for line := range strings.Lines(text) {
		if len(all) == maxHashes {
			return nil, fmt.Errorf("there are more than %d hashes", maxHashes)
		}
		h, err := parseHash(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("hash %d: %w", len(all)+1, err)
		}
		all = append(all, h)
	}
	return all, nil
}
