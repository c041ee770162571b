package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"latchkey/internal/store"
)

// IsAway reports whether an error of [Open] says that the database may be there in a
// while: no server answers, it is starting or ending, admits no more connections, or
// there is no primary for the moment.
func IsAway(err error) bool {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch said.Code {
		case "57P01", "57P02", "57P03", tooManyConnections: // admin_shutdown, crash_shutdown, cannot_connect_now
			return true
		}
		return strings.HasPrefix(said.Code, "08") // connection_exception
	}
	_, unreachable := errors.AsType[*pgconn.ConnectError](err)
	return unreachable || errors.Is(err, store.ErrReadOnly) || errors.Is(err, context.DeadlineExceeded)
}
