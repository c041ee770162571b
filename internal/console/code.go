package console

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"latchkey/internal/secretfile"
)

// A development server lets the page in that knows a code of its terminal. The
// code is in a file of the data folder, so that `latchkey console` can make one
// while a server runs, and it is gone with its first use.

const devKeyPath = Root + "dev-key"

func codePath(folder string) string { return filepath.Join(folder, "console.code") }

// NewCode makes the code that a page can use once; the one before is void.
func NewCode(folder string) (string, error) {
	var secret [24]byte
	_, _ = rand.Read(secret[:]) // never fails
	code := base64.RawURLEncoding.EncodeToString(secret[:])
	return code, secretfile.Write(codePath(folder), []byte(code+"\n"))
}

// Address is where the console of a server with this port is opened with a code.
// It has a name, because an address cannot be the relying party of a passkey; and
// the code is in the fragment, which no browser sends.
func Address(port, code string) string {
	return "http://localhost:" + port + Root + "#code=" + code
}

// redeem uses the code up. Of two who know it, one gets true: only one can rename
// the file.
func redeem(folder, code string) (bool, error) {
	known, err := secretfile.Read(codePath(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || subtle.ConstantTimeCompare([]byte(strings.TrimSpace(string(known))), []byte(code)) != 1 {
		return false, err
	}
	used := codePath(folder) + ".used"
	if err := os.Rename(codePath(folder), used); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	return true, os.Remove(used)
}

// devKey hands the development key to a page on this machine that knows the code.
func (h *Handler) devKey(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if h.config.DevFolder == "" || !local(r) {
		refuse(w, http.StatusNotFound, "only a development server, opened on its own machine, hands its key to the console")
		return
	}
	var asked struct {
		Code string `json:"code"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1000)).Decode(&asked); err != nil {
		refuse(w, http.StatusBadRequest, `the body must be JSON such as {"code":"…"}`)
		return
	}
	ok, err := redeem(h.config.DevFolder, asked.Code)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "the code could not be read; see the data folder")
		return
	}
	if !ok {
		refuse(w, http.StatusForbidden, "this link was used already, or a newer one was made; `latchkey console` prints another")
		return
	}
	text, err := secretfile.Read(filepath.Join(h.config.DevFolder, "dev.json"))
	if err != nil {
		refuse(w, http.StatusInternalServerError, "dev.json could not be read; see the data folder")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the client is gone
}

// local reports whether a request comes from this machine, and was meant for it: a
// name that resolves to it but is another's is not.
func local(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() {
		return false
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && address.IsLoopback()
}

func refuse(w http.ResponseWriter, status int, message string) {
	body, _ := json.Marshal(map[string]string{"message": message}) // text can be encoded
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone
}
