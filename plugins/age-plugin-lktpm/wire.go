package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"time"

	"github.com/google/go-tpm/tpm2/transport/linuxtpm"
)

// open opens a device, or the Unix socket of an emulator.
func open(device string) (*chip, error) {
	info, err := os.Stat(device)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the TPM is away: there is no %s", device)
	case err != nil:
		return nil, fmt.Errorf("the TPM cannot be reached: %w", err)
	case info.Mode()&fs.ModeSocket != 0:
		connection, err := net.DialTimeout("unix", device, answers)
		if err != nil {
			return nil, fmt.Errorf("the TPM is away: %w", err)
		}
		return &chip{device, &socket{connection}}, nil
	case info.Mode()&fs.ModeDevice == 0:
		return nil, fmt.Errorf("%s is neither a device nor a Unix socket", device)
	}
	wire, err := linuxtpm.Open(device)
	if err != nil {
		return nil, fmt.Errorf("the TPM cannot be reached (is the user of the server in group tss?): %w", err)
	}
	return &chip{device, wire}, nil
}

const (
	answers    = 20 * time.Second // by then, also where keys are made slowly
	headerSize = 10
	maxAnswer  = 64 << 10
)

// socket speaks to an emulator over one connection: the bytes of commands and answers,
// whose header has their length.
type socket struct{ connection net.Conn }

// Close closes it.
func (s *socket) Close() error { return s.connection.Close() }

// Send sends a command and reads the answer.
func (s *socket) Send(command []byte) ([]byte, error) {
	if err := s.connection.SetDeadline(time.Now().Add(answers)); err != nil {
		return nil, err
	}
	if _, err := s.connection.Write(command); err != nil {
		return nil, err
	}
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(s.connection, header); err != nil {
		return nil, fmt.Errorf("the emulator did not answer: %w", err)
	}
	size := binary.BigEndian.Uint32(header[2:])
	if size < headerSize || size > maxAnswer {
		return nil, errors.New("what answers there is no TPM")
	}
	answer := append(header, make([]byte, size-headerSize)...)
	if _, err := io.ReadFull(s.connection, answer[headerSize:]); err != nil {
		return nil, fmt.Errorf("the emulator did not answer: %w", err)
	}
	return answer, nil
}
