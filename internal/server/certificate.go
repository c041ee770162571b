package server

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"time"

	"latchkey/internal/server/config"
)

// LookAtCertificate is how often a server looks whether the files of its certificate
// were renewed.
const LookAtCertificate = 5 * time.Second

func loadCertificate(c config.TLS) (*tls.Certificate, error) {
	certificate, err := tls.LoadX509KeyPair(c.Certificate, c.Key)
	if err != nil {
		return nil, fmt.Errorf("loading the TLS certificate: %w", err)
	}
	return &certificate, nil
}

// certificateFiles are the files of the certificate that is served, and what they
// held when they were looked at last: what could not be used is not tried again, nor
// told again, until it changes. They are of the goroutine of [Server.ReloadOn].
type certificateFiles struct {
	config.TLS
	seen [sha256.Size]byte
}

// renewCertificate takes the certificate anew if its files have changed. While they do
// not fit each other, or cannot be read, the one before is served.
func (s *Server) renewCertificate() {
	files := &s.certificateFiles
	if !files.Enabled() {
		return
	}
	certificate, certificateErr := os.ReadFile(files.Certificate)
	key, keyErr := os.ReadFile(files.Key)
	seen := sha256.Sum256(fmt.Appendf(nil, "%d %v %v ", len(certificate), certificateErr, keyErr))
	seen = sha256.Sum256(bytes.Join([][]byte{seen[:], certificate, key}, nil))
	if seen == files.seen {
		return
	}
	files.seen = seen
	err := errors.Join(certificateErr, keyErr)
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.X509KeyPair(certificate, key)
	}
	before := s.certificate.Load()
	switch {
	case err != nil:
		s.log.Error("the TLS certificate or its key was changed and cannot be used; the one before is served", "error", err)
	case !bytes.Equal(before.Certificate[0], pair.Certificate[0]):
		s.certificate.Store(&pair)
		s.log.Info("the TLS certificate was renewed", "notAfter", pair.Leaf.NotAfter)
	}
}
