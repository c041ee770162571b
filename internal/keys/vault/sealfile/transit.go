package sealfile

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// transitKept is what a seal keeps of a key in the transit engine of OpenBao or Vault.
type transitKept struct {
	URL        string `json:"url"` // of the key: https://HOST/v1/MOUNT/keys/NAME
	Ciphertext string `json:"ciphertext"`
}

const (
	transitTime  = 15 * time.Second
	transitReply = 64 << 10
)

func (k *transitKept) check() error {
	if k.Ciphertext == "" {
		return errors.New("kept: url and ciphertext must be there")
	}
	_, err := readTransit(k.URL)
	return err
}

func wrapByTransit(at string, scalar, token []byte) (*transitKept, error) {
	reply, err := askTransit(at, "encrypt", map[string]string{"plaintext": base64.StdEncoding.EncodeToString(scalar)}, token)
	if err != nil {
		return nil, err
	}
	if reply.Ciphertext == "" {
		return nil, fmt.Errorf("%s answered without a ciphertext", at)
	}
	return &transitKept{URL: at, Ciphertext: reply.Ciphertext}, nil
}

func (k *transitKept) unwrap(_ *recipient, token []byte) ([]byte, error) {
	reply, err := askTransit(k.URL, "decrypt", map[string]string{"ciphertext": k.Ciphertext}, token)
	if err != nil {
		return nil, err
	}
	// What is no base64 is not our scalar either.
	plain, _ := base64.StdEncoding.DecodeString(reply.Plaintext)
	return plain, nil
}

var transitPath = regexp.MustCompile(`^(/v1/[A-Za-z0-9._/-]+)/keys/([A-Za-z0-9._-]+)$`)

// readTransit reads the address of a key.
func readTransit(text string) (*url.URL, error) {
	const want = "it must be the address of a key of the transit engine, https://HOST/v1/MOUNT/keys/NAME, with ?namespace=… where there are some"
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || at.Fragment != "" || !transitPath.MatchString(at.Path) || strings.Contains(at.Path, "..") {
		return nil, errors.New(want)
	}
	if at.User != nil {
		return nil, errors.New("no name and no password belong into the address: the token comes by --secret or seal.secrets")
	}
	for name := range at.Query() {
		if name != "namespace" {
			return nil, errors.New(want)
		}
	}
	switch host := net.ParseIP(at.Hostname()); {
	case at.Scheme == "https":
	case at.Scheme == "http" && (host.IsLoopback() || at.Hostname() == "localhost"):
	default:
		return nil, errors.New("it must begin with https: the token and the key of the recipient travel to it (http is for this machine alone)")
	}
	return at, nil
}

type transitAnswer struct {
	Ciphertext string `json:"ciphertext"`
	Plaintext  string `json:"plaintext"`
}

func askTransit(text, verb string, body map[string]string, token []byte) (transitAnswer, error) {
	at, err := readTransit(text)
	if err != nil {
		return transitAnswer{}, err
	}
	namespace := at.Query().Get("namespace")
	at.Path, at.RawQuery = transitPath.ReplaceAllString(at.Path, "$1/"+verb+"/$2"), ""
	content, err := json.Marshal(body)
	if err != nil {
		return transitAnswer{}, err
	}
	defer clear(content)
	request, err := http.NewRequest(http.MethodPost, at.String(), bytes.NewReader(content))
	if err != nil {
		return transitAnswer{}, err
	}
	request.Header.Set("X-Vault-Token", string(token))
	request.Header.Set("X-Vault-Request", "true")
	if namespace != "" {
		request.Header.Set("X-Vault-Namespace", namespace)
	}
	client := &http.Client{
		Timeout: transitTime,
		// The token is for this address, and for none that it names.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	reply, err := client.Do(request)
	if err != nil {
		return transitAnswer{}, fmt.Errorf("the service cannot be reached: %w", err)
	}
	defer reply.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(reply.Body, transitReply))
	defer clear(answer)
	if err != nil {
		return transitAnswer{}, fmt.Errorf("the service at %s did not finish its answer: %w", at, err)
	}
	if reply.StatusCode != http.StatusOK {
		return transitAnswer{}, fmt.Errorf("%s answered with %d%s", at, reply.StatusCode, transitReason(reply.StatusCode, answer))
	}
	var found struct {
		Data transitAnswer `json:"data"`
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return transitAnswer{}, fmt.Errorf("%s answered with something that is not of the transit engine", at)
	}
	return found.Data, nil
}

// transitReason says what a status means, and what the service adds.
func transitReason(status int, answer []byte) string {
	reason := ""
	switch status {
	case http.StatusForbidden:
		reason = ": the token is wrong, has ended, or may not use the key"
	case http.StatusNotFound:
		reason = ": there is no such engine or key"
	case http.StatusServiceUnavailable:
		reason = ": the service is sealed itself, or in maintenance"
	}
	var told struct {
		Errors []string `json:"errors"`
	}
	if json.Unmarshal(answer, &told) == nil && len(told.Errors) > 0 {
		reason += fmt.Sprintf(" (%.200q)", strings.Join(told.Errors, "; "))
	}
	return reason
}
