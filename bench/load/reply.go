package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"slices"
	"strconv"
)

// Bounds on what a server may send.
const (
	maxHeaders = 100
	maxBody    = 16 << 20
)

var (
	errStatusLine = errors.New("not the status line of a reply of HTTP/1.1 with a body")
	errLength     = errors.New("neither one Content-Length nor chunks: where the reply ends is not known")
	errSize       = fmt.Errorf("a reply of more than %d bytes", maxBody)
)

// readReply reads one reply, its body into the room of buffer. It is strict
// where strictness keeps the next reply on the connection in step, and ignores
// every header but those that say where the body ends.
func readReply(r *bufio.Reader, buffer []byte) (status int, body []byte, err error) {
	line, err := readLine(r)
	if err != nil {
		return 0, nil, err
	}
	// HTTP/1.1 200 OK
	const version = "HTTP/1.1 "
	if len(line) < len(version)+3 || string(line[:len(version)]) != version || len(line) > len(version)+3 && line[len(version)+3] != ' ' {
		return 0, nil, errStatusLine
	}
	if status, err = strconv.Atoi(string(line[len(version) : len(version)+3])); err != nil || status < 200 || status == 204 || status == 304 {
		return 0, nil, errStatusLine
	}
	length, chunked := -1, false
	for n := 0; ; n++ {
		if line, err = readLine(r); err != nil {
			return 0, nil, err
		}
		if len(line) == 0 {
			break
		}
		name, value, ok := bytes.Cut(line, []byte{':'})
		if !ok || n == maxHeaders {
			return 0, nil, errors.New("not a header of HTTP/1.1, or too many of them")
		}
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			parsed, err := strconv.ParseUint(string(value), 10, 31)
			if err != nil || length >= 0 || parsed > maxBody {
				return 0, nil, errLength
			}
			length = int(parsed)
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			if chunked || !bytes.EqualFold(value, []byte("chunked")) {
				return 0, nil, errLength
			}
			chunked = true
		}
	}
	switch {
	case chunked && length < 0:
		body, err = readChunks(r, buffer)
		return status, body, err
	case chunked || length < 0:
		return 0, nil, errLength
	}
	body = slices.Grow(buffer[:0], length)[:length]
	_, err = io.ReadFull(r, body)
	return status, body, err
}

// readLine returns a line without its end. It is valid until the next read.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'}), nil
}

// readChunks reads a chunked body with its trailer (RFC 9112 section 7.1).
func readChunks(r *bufio.Reader, buffer []byte) ([]byte, error) {
	body := bytes.NewBuffer(buffer[:0])
	n, err := body.ReadFrom(io.LimitReader(httputil.NewChunkedReader(r), maxBody+1))
	if err != nil {
		return nil, err
	}
	if n > maxBody {
		return nil, errSize
	}
	for range maxHeaders {
		line, err := readLine(r)
		if err != nil || len(line) == 0 {
			return body.Bytes(), err
		}
	}
	return nil, errors.New("a trailer without end")
}
