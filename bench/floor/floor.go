// Package floor is the least that a signing service can do: what Latchkey's
// speed is measured against.
//
// For a query it verifies the stamp and replies. For an activity it verifies
// the stamp, signs with secp256k1, makes one record durable and replies. It
// knows no users, no policies and no wallets: every P-256 key may call, one
// key in memory signs. So it is no service, and nothing but a benchmark may
// run it.
//
// It shares no code with Latchkey on purpose. A common part that becomes
// slower would slow both sides of the ratio, and nobody would notice.
package floor

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"golang.org/x/crypto/sha3"
)

// Config is what a floor needs to know.
type Config struct {
	// File is where records go.
	File string
	// ReplySizes are the sizes of the replies' bodies by operation, such as
	// query/whoami, as the service that it is compared with sends them.
	ReplySizes map[string]int
	// Linger is the longest wait for other records; 0: 1 ms.
	Linger time.Duration
}

// Server is a running floor.
type Server struct {
	URL string
	// Address is the Ethereum address of the key that it signs with.
	Address string

	key    *secp256k1.PrivateKey
	stamps stamps
	log    *recordLog
	http   *http.Server
	served chan error
	pads   map[string]string
}

// Start listens on a free port of the loopback interface and serves.
func Start(c Config) (*Server, error) {
	key, err := secp256k1.GeneratePrivateKey()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	log, err := openLog(c.File, c.Linger)
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	s := &Server{
		URL: "http://" + listener.Addr().String(), Address: address(key.PubKey()),
		key: key, log: log, served: make(chan error, 1), pads: map[string]string{},
	}
	for operation, size := range c.ReplySizes {
		s.pads[operation] = pad(operation, size)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /public/v1/query/{operation}", s.query)
	mux.HandleFunc("POST /public/v1/submit/{operation}", s.submit)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
}

// Stop ends it.
func (s *Server) Stop(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	<-s.served
	if closing := s.log.close(); err == nil {
		err = closing
	}
	return err
}

func (s *Server) query(w http.ResponseWriter, r *http.Request) {
	if _, err := s.read(r); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	write(w, fmt.Appendf(make([]byte, 0, 512), `{"pad":"%s"}`, s.pads["query/"+r.PathValue("operation")]))
}

// submit signs the hash of the body, which is at hand; a bare server has no
// use for what is in the body.
func (s *Server) submit(w http.ResponseWriter, r *http.Request) {
	s.log.enter()
	defer s.log.leave()
	digest, err := s.read(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	signature := ecdsa.SignCompact(s.key, digest[:], false)
	pad := s.pads["submit/"+r.PathValue("operation")]
	reply := append(make([]byte, 0, 512+len(pad)), `{"activity":{"status":"ACTIVITY_STATUS_COMPLETED","result":{"signRawPayloadResult":{"r":"`...)
	reply = hex.AppendEncode(reply, signature[1:33])
	reply = append(reply, `","s":"`...)
	reply = hex.AppendEncode(reply, signature[33:])
	reply = fmt.Appendf(reply, `","v":"%02x"}},"pad":"%s"}}`, signature[0]-27, pad)
	if err := s.log.append(reply); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, reply)
}

// read reads the body, checks its stamp and returns the body's hash.
func (s *Server) read(r *http.Request) (digest [32]byte, err error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, 1<<20))
	if err != nil {
		return digest, err
	}
	return s.stamps.verify(r.Header.Get("X-Stamp"), body)
}

func write(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // nobody is left to tell
}

// The bytes of a reply without its padding.
const (
	bareQuery  = len(`{"pad":""}`)
	bareSubmit = len(`{"activity":{"status":"ACTIVITY_STATUS_COMPLETED","result":{"signRawPayloadResult":{"r":"","s":"","v":"00"}},"pad":""}}`) + 2*64
)

// pad fills the reply of an operation, such as query/whoami, up to size.
func pad(operation string, size int) string {
	bare := bareSubmit
	if strings.HasPrefix(operation, "query/") {
		bare = bareQuery
	}
	return strings.Repeat("x", max(0, size-bare))
}

// address is the Ethereum address of a key, in lower case.
func address(key *secp256k1.PublicKey) string {
	h := sha3.NewLegacyKeccak256()
	h.Write(key.SerializeUncompressed()[1:])
	return "0x" + hex.EncodeToString(h.Sum(nil)[12:])
}
