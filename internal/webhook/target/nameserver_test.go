package target

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
)

// nameServer is a resolver that asks a name server on this machine, which answers
// every question for an address with the one at hand.
func nameServer(t *testing.T, answer *atomic.Pointer[netip.Addr]) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		for question := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(question)
			if err != nil {
				return
			}
			if reply := answerTo(question[:n], *answer.Load()); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// answerTo makes the reply to a query (RFC 1035 section 4.1): its header and its
// question, and for an A question one record.
func answerTo(query []byte, address netip.Addr) []byte {
	end := 12 // of the header
	for end < len(query) && query[end] != 0 {
		end += 1 + int(query[end])
	}
	if end += 5; end > len(query) { // the last label, type and class
		return nil
	}
	reply := append([]byte(nil), query[:end]...)
	reply[2] |= 0x80                                 // a response
	copy(reply[6:12], []byte{0, 0, 0, 0, 0, 0})      // no records
	if binary.BigEndian.Uint16(query[end-4:]) == 1 { // A
		reply[7] = 1
		reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
		reply = append(reply, address.AsSlice()...)
	}
	return reply
}
