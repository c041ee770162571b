// Package cloud stands in for the key management of AWS, Google Cloud and Azure in
// tests: the calls that seals use, over TLS, with keys that really encrypt, and with
// the texts that the services answer with. The official libraries speak to it.
package cloud

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Trouble is what a service can be told to make.
type Trouble int

// The troubles.
const (
	None     Trouble = iota
	Denied           // the credentials may not use the key
	Expired          // the credentials have ended
	Disabled         // the key is
	Busy             // it has too much to do
	OtherKey         // it answers that another key was used
	Damaged          // what it answers does not fit its checksum (Google Cloud)
	Slow             // it does not answer at all
)

// Service is the three services, which have two keys each, "latchkey" and "other".
type Service struct {
	server *httptest.Server
	proxy  *httptest.Server
	ca     []byte
	robot  *rsa.PrivateKey // the service account of Google Cloud

	mu      sync.Mutex
	trouble Trouble
	keys    map[string][]material // by name, each with its versions
}

// material is a version of a key, in both forms that clouds have.
type material struct {
	symmetric cipher.AEAD
	pair      *rsa.PrivateKey
}

// New starts the services on loopback.
func New() *Service {
	s := &Service{robot: must(rsa.GenerateKey(rand.Reader, 2048)), keys: map[string][]material{}}
	s.Rotate("latchkey")
	s.Rotate("other")
	certificate := s.certify()
	s.server = httptest.NewUnstartedServer(s)
	s.server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	s.server.StartTLS()
	s.proxy = httptest.NewServer(http.HandlerFunc(s.tunnel))
	return s
}

// Close takes the services away.
func (s *Service) Close() {
	s.proxy.Close()
	s.server.Close()
}

// Make makes trouble, until it is told another one.
func (s *Service) Make(t Trouble) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = t
}

// Rotate gives a key a new version, which encrypts from now on.
func (s *Service) Rotate(key string) {
	secret := make([]byte, 32)
	rand.Read(secret)
	made := material{must(cipher.NewGCMWithRandomNonce(must(aes.NewCipher(secret)))), must(rsa.GenerateKey(rand.Reader, 2048))}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[key] = append(s.keys[key], made)
}

func (s *Service) state(key string) (Trouble, []material) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trouble, s.keys[key]
}

// Environment is what the libraries need to find the services and to log in: files has
// their contents by name, in folder.
func (s *Service) Environment(folder string) (variables []string, files map[string]string) {
	variables = []string{
		"SSL_CERT_FILE=" + folder + "/ca.pem", "AWS_CA_BUNDLE=" + folder + "/ca.pem",
		"AWS_ACCESS_KEY_ID=" + accessKey, "AWS_SECRET_ACCESS_KEY=" + Secret, "AWS_ENDPOINT_URL_KMS=" + s.server.URL, "AWS_MAX_ATTEMPTS=1",
		"GOOGLE_APPLICATION_CREDENTIALS=" + folder + "/robot.json", "CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS=" + s.server.URL,
		// The vault of Azure has its own name: a proxy leads here.
		"IDENTITY_ENDPOINT=" + s.server.URL + "/identity", "IDENTITY_HEADER=" + Secret, "HTTPS_PROXY=" + s.proxy.URL,
	}
	return variables, map[string]string{"ca.pem": string(s.ca), "robot.json": s.account()}
}

// Secret is in the credentials of all clouds.
const Secret = "cloud-secret-7261"

// ServeHTTP answers as one of the services.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		return
	}
	if trouble, _ := s.state(""); trouble == Slow {
		<-r.Context().Done()
		return
	}
	switch {
	case r.Header.Get("X-Amz-Target") != "":
		s.serveAWS(w, r, body)
	case strings.HasPrefix(r.URL.Path, "/v1/projects/"):
		s.serveGCP(w, r, body)
	default:
		s.serveAzure(w, r, body)
	}
}

// encrypt encrypts with the newest version, whose number is written before.
func encrypt(versions []material, plain, bound []byte) []byte {
	n := len(versions)
	return append([]byte{byte(n)}, versions[n-1].symmetric.Seal(nil, nil, plain, bound)...)
}

func decrypt(versions []material, text, bound []byte) ([]byte, error) {
	if len(text) == 0 || text[0] == 0 || int(text[0]) > len(versions) {
		return nil, errors.New("not of this key")
	}
	return versions[text[0]-1].symmetric.Open(nil, nil, text[1:], bound)
}

// tunnel leads to the vault of Azure, and nowhere else.
func (s *Service) tunnel(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect || r.Host != vaultHost+":443" {
		http.Error(w, "there is no such place here", http.StatusBadGateway)
		return
	}
	to, err := net.Dial("tcp", s.server.Listener.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer to.Close()
	from, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer from.Close()
	_, _ = io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n") // it may be gone
	go func() {
		_, _ = io.Copy(to, from)
		to.Close()
	}()
	_, _ = io.Copy(from, to)
}

// certify makes an authority, and a certificate for loopback and for the vault.
func (s *Service) certify() tls.Certificate {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{vaultHost},
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))
	s.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func reply(w http.ResponseWriter, status int, body any) {
	var text bytes.Buffer
	_ = json.NewEncoder(&text).Encode(body) // of our own making
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // who asked may be gone
}

// must is for what fails only where nothing works.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
