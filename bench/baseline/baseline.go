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

// server is a running baseline.
type server struct {
	key    *secp256k1.PrivateKey
	stamps stamps
	log    *recordLog
	pads   map[string]string
}

// Start serves at host until the process ends. Records go to a file. Replies
// have the sizes that are given by operation, such as query/whoami: those of
// the service that is compared with it. GET /readyz answers with the Ethereum
// address of the key that signs.
func Start(host, file string, replySizes map[string]int) error {
	key, err := secp256k1.GeneratePrivateKey()
	if err != nil {
		return err
	}
	log, err := openLog(file, linger)
	if err != nil {
		return err
	}
	s := &server{key: key, log: log, pads: map[string]string{}}
	for operation, size := range replySizes {
		bare := len(activity(nil, make([]byte, 65), ""))
		if strings.HasPrefix(operation, "query/") {
			bare = len(result(""))
		}
		s.pads[operation] = strings.Repeat("x", max(0, size-bare))
	}
	listener, err := net.Listen("tcp", host)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", s.signer)
	mux.HandleFunc("POST /public/v1/query/{operation}", s.query)
	mux.HandleFunc("POST /public/v1/submit/{operation}", s.submit)
	go func() { _ = (&http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}).Serve(listener) }()
	return nil
}

// signer answers in lower case.
func (s *server) signer(w http.ResponseWriter, _ *http.Request) {
	h := sha3.NewLegacyKeccak256()
	h.Write(s.key.PubKey().SerializeUncompressed()[1:])
	write(w, fmt.Appendf(nil, "0x%x", h.Sum(nil)[12:]))
}

func (s *server) query(w http.ResponseWriter, r *http.Request) {
	if _, err := s.read(r); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	write(w, result(s.pads["query/"+r.PathValue("operation")]))
}

// submit signs the hash of the body, which the stamp needed anyway; what is in
// the body does not matter to a bare server.
func (s *server) submit(w http.ResponseWriter, r *http.Request) {
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
func (s *server) read(r *http.Request) (digest [32]byte, err error) {
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
