package server

import (
	"fmt"
	"slices"

	"latchkey/internal/server/config"
	"latchkey/internal/witness"
)

// newWitnesses makes the clients of the witnesses that the config names. It opens no
// connection.
func newWitnesses(c *config.Log) (all []*witness.Client, err error) {
	for i, w := range c.Witnesses {
		client, err := witness.NewClient(w.URL, w.Key)
		if err != nil {
			return nil, fmt.Errorf("log.witnesses[%d]: %w", i, err)
		}
		if slices.ContainsFunc(all, func(other *witness.Client) bool { return other.Name() == client.Name() }) {
			return nil, fmt.Errorf("log.witnesses[%d]: the witness %s is there twice; put all keys of a witness into one key, with white space between them", i, client.Name())
		}
		all = append(all, client)
	}
	if c.Quorum > len(all) {
		return nil, fmt.Errorf("log.quorum is %d, and log.witnesses names %d: no checkpoint would ever be published", c.Quorum, len(all))
	}
	return all, nil
}
