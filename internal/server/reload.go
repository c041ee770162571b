package server

import (
	"context"
	"log/slog"
	"os"
	"reflect"
	"time"

	"latchkey/internal/request/api"
	"latchkey/internal/request/authproxy"
	"latchkey/internal/server/config"
)

// ReloadOn reads the config file again at each signal, until ctx ends. A file
// that is not good, or a certificate that is not, changes nothing; of a good one
// the certificate, the level of the log and the limits are taken, and what else
// differs is named. At each look the files of the certificate are read alone.
func (s *Server) ReloadOn(ctx context.Context, signals <-chan os.Signal, looks <-chan time.Time, file string, level *slog.LevelVar) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-looks:
			s.renewCertificate()
			continue
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
		s.certificateFiles = certificateFiles{TLS: now.TLS}
		was.TLS, now.TLS = config.TLS{}, config.TLS{}
	}
	// From here on nothing fails.
	setLevel(level, now.Log)
	s.engine.SetLimits(limits(&now.Limits))
	s.authProxy.SetLimits(authproxy.Limits(now.AuthProxy.Limits))
	s.api.SetBounds(now.Limits.Body, api.Rate(now.Limits.Rate))
	if was.Limits.Header != now.Limits.Header { // the listener was made for it
		restart = append(restart, "limits.header")
	}
	if was.Log.Format != now.Log.Format {
		restart = append(restart, "log.format")
	}
	was.Log.Format, was.Log.Level = now.Log.Format, now.Log.Level
	if !reflect.DeepEqual(was.Log, now.Log) {
		restart = append(restart, "log.requestIds, log.state, log.origin, log.quorum or log.witnesses")
	}
	was.Log, was.Limits, was.AuthProxy.Limits = now.Log, now.Limits, now.AuthProxy.Limits
	return append(config.Differences(&was, &now), restart...), nil
}
