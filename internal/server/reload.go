package server

import (
	"context"
	"log/slog"
	"os"

	"latchkey/internal/server/config"
)

// ReloadOn reads the config file again at each signal, until ctx ends. A file
// that is not good, or a certificate that is not, changes nothing; of a good one
// the certificate and the level of the log are taken, and what else differs is
// named.
func (s *Server) ReloadOn(ctx context.Context, signals <-chan os.Signal, file string, level *slog.LevelVar) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
		restart, err := s.reload(file, level)
		switch {
		case err != nil:
			s.log.Error("the config was not reloaded; nothing has changed", "error", err)
		case len(restart) > 0:
			s.log.Warn("the config was reloaded; some changes need a restart", "restart", restart)
		default:
			s.log.Info("the config was reloaded")
		}
	}
}

func (s *Server) reload(file string, level *slog.LevelVar) (restart []string, err error) {
	c, err := config.Load(file)
	if err != nil {
		return nil, err
	}
	if _, err := newRouter(c); err != nil { // templates and secrets, for the next start
		return nil, err
	}
	was, now := *s.config, *c
	if was.TLS.Enabled() && now.TLS.Enabled() {
		certificate, err := loadCertificate(now.TLS)
		if err != nil {
			return nil, err
		}
		s.certificate.Store(certificate)
		was.TLS, now.TLS = config.TLS{}, config.TLS{}
	}
	setLevel(level, now.Log)
	was.Log.Level, now.Log.Level = "", ""
	return config.Differences(&was, &now), nil
}
