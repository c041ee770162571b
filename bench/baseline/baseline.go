// Package baseline is the least that a signing service can do: Latchkey's speed
// is measured against it.
//
// For a query it verifies the stamp and replies. For an activity it verifies
// the stamp, signs with secp256k1, makes one record durable and replies. It
// knows no users, no policies and no wallets: every P-256 key may call, and one
// key in memory signs. Only a benchmark may run it.
//
// It shares no code with Latchkey on purpose. A common part that becomes
// slower would slow both sides of the ratio, unnoticed.
package baseline

import (
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

// linger is the longest wait for other records to flush together with.
const linger = time.Millisecond

// Server is a running baseline.
type Server struct {
	URL string
	// Address is the Ethereum address of the key that it signs with.
	Address string

	key    *secp256k1.PrivateKey
	stamps stamps
	log    *recordLog
	pads   map[string]string
}

// Start listens on a free port of the loopback interface and serves until the
// process ends. Records go
// to a file. Replies have the sizes that are given by operation, such as
// query/whoami: those of the service that is compared with it.
func Start(file string, replySizes map[string]int) (*Server, error) {
	key, err := secp256k1.GeneratePrivateKey()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	log, err := openLog(file, linger)
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	s := &Server{
		URL: "http://" + listener.Addr().String(), Address: address(key.PubKey()),
		key: key, log: log, pads: map[string]string{},
	}
	for operation, size := range replySizes {
		bare := len(activity(nil, make([]byte, 65), ""))
		if strings.HasPrefix(operation, "query/") {
			bare = len(result(""))
		}
		s.pads[operation] = strings.Repeat("x", max(0, size-bare))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /public/v1/query/{operation}", s.query)
	mux.HandleFunc("POST /public/v1/submit/{operation}", s.submit)
	go func() { _ = (&http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}).Serve(listener) }()
	return s, nil
}

func (s *Server) query(w http.ResponseWriter, r *http.Request) {
	if _, err := s.read(r); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	write(w, result(s.pads["query/"+r.PathValue("operation")]))
}

// submit signs the hash of the body, which the stamp needed anyway; what is in
// the body does not matter to a bare server.
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
	reply := activity(make([]byte, 0, 512+len(pad)), signature, pad)
	if err := s.log.append(reply); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, reply)
}

// result is the reply to a query.
func result(pad string) []byte { return fmt.Appendf(make([]byte, 0, 512), `{"pad":"%s"}`, pad) }

// activity appends the reply to an activity with a signature of v, r and s.
func activity(b, signature []byte, pad string) []byte {
	b = append(b, `{"activity":{"status":"ACTIVITY_STATUS_COMPLETED","result":{"signRawPayloadResult":{"r":"`...)
	b = hex.AppendEncode(b, signature[1:33])
	b = append(b, `","s":"`...)
	b = hex.AppendEncode(b, signature[33:])
	return fmt.Appendf(b, `","v":"%02x"}},"pad":"%s"}}`, signature[0]-27, pad)
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
	_, _ = w.Write(body) // it fails only when the client is gone
}

// address is the Ethereum address of a key, in lower case.
func address(key *secp256k1.PublicKey) string {
	h := sha3.NewLegacyKeccak256()
	h.Write(key.SerializeUncompressed()[1:])
	return "0x" + hex.EncodeToString(h.Sum(nil)[12:])
}
