package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"latchkey/internal/fault"
	"latchkey/internal/translog"
)

// TransparencyLog is what is published of the log; package ledger has it.
type TransparencyLog interface {
	Checkpoint(ctx context.Context) ([]byte, error)
	Tile(ctx context.Context, level int, n int64, width int) ([]byte, error)
}

// The log's paths, by C2SP tlog-tiles.
const (
	logPrefix      = "/latchkey/v1/log/"
	checkpointPath = logPrefix + "checkpoint"
	tilePrefix     = logPrefix + "tile/"
)

// logPage answers a request for a part of the log. Anyone may read it: without
// the salts it tells nothing but how much happens.
func (s *Server) logPage(w http.ResponseWriter, r *http.Request, path string) {
	allowBrowsers(w)
	body, cache, err := s.logPart(r.Context(), path)
	if err != nil {
		reply := s.refusal(r, err)
		write(w, reply.Status, reply.Body)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	if path == checkpointPath {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	h.Set("Cache-Control", cache)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the client is gone
}

func (s *Server) logPart(ctx context.Context, path string) (body []byte, cache string, err error) {
	if path == checkpointPath {
		body, err = s.TransparencyLog.Checkpoint(ctx)
		if err == nil && body == nil {
			err = fault.Missing("the log has no entry yet")
		}
		return body, "no-cache", err
	}
	level, n, width, err := translog.ParseTilePath(strings.TrimPrefix(path, logPrefix))
	if err != nil {
		return nil, "", fault.Missing("this is not the path of a tile, such as %s0/x001/234 or %s0/x001/234.p/56", tilePrefix, tilePrefix)
	}
	body, err = s.TransparencyLog.Tile(ctx, level, n, width)
	if errors.Is(err, translog.ErrNoTile) {
		err = fault.Missing("the log of the newest checkpoint has no such tile")
	}
	return body, "public, max-age=31536000, immutable", err
}
