package floor

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// segment is how long the file is. It is written full of zeros beforehand and
// begun anew when it is full, as write-ahead logs of databases are: a flush
// need not wait for the file system to enlarge the file, which takes half as
// long again.
const segment = 64 << 20

// recordLog makes records durable, those that come at about the same time with
// one flush.
type recordLog struct {
	file   *os.File
	linger time.Duration
	offset int64 // of the writer alone

	mu       sync.Mutex
	inFlight int       // requests that have come and are not answered
	waiting  []*record // for the next flush
	enough   int       // so many wake the writer
	wake     chan struct{}
	closed   bool
	done     chan struct{}
}

type record struct {
	bytes   []byte
	durable chan error
}

func openLog(path string, linger time.Duration) (*recordLog, error) {
	if linger == 0 {
		linger = time.Millisecond
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	zeros := make([]byte, 1<<20)
	for range segment / len(zeros) {
		if _, err := file.Write(zeros); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	if err := file.Sync(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	l := &recordLog{file: file, linger: linger, enough: 1, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go l.write()
	return l, nil
}

// enter tells that a request has come which may append a record; leave, that
// it is answered.
func (l *recordLog) enter() {
	l.mu.Lock()
	l.inFlight++
	l.mu.Unlock()
}

func (l *recordLog) leave() {
	l.mu.Lock()
	l.inFlight--
	l.mu.Unlock()
}

// append returns when the record is on the disk.
func (l *recordLog) append(bytes []byte) error {
	r := &record{bytes, make(chan error, 1)}
	l.mu.Lock()
	l.waiting = append(l.waiting, r)
	if len(l.waiting) >= l.enough {
		l.signal()
	}
	l.mu.Unlock()
	return <-r.durable
}

func (l *recordLog) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// close ends the writer; no request may be in flight any more.
func (l *recordLog) close() error {
	l.mu.Lock()
	l.closed = true
	l.signal()
	l.mu.Unlock()
	<-l.done
	return l.file.Close()
}

// write flushes until it is closed.
func (l *recordLog) write() {
	defer close(l.done)
	var buffer []byte
	for {
		group := l.take()
		if group == nil {
			return
		}
		buffer = buffer[:0]
		for _, r := range group {
			buffer = binary.LittleEndian.AppendUint32(buffer, uint32(len(r.bytes)))
			buffer = append(buffer, r.bytes...)
		}
		err := l.flush(buffer)
		for _, r := range group {
			r.durable <- err
		}
	}
}

func (l *recordLog) flush(buffer []byte) error {
	if l.offset+int64(len(buffer)) > segment {
		l.offset = 0
	}
	n, err := l.file.WriteAt(buffer, l.offset)
	l.offset += int64(n)
	if err != nil {
		return err
	}
	return unix.Fdatasync(int(l.file.Fd()))
}

// take waits for records; nil means that the log is closed. While requests are
// in flight that have not got here it waits for them too, but not for longer
// than linger. A record alone is taken at once.
func (l *recordLog) take() []*record {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) == 0 {
		if l.closed {
			return nil
		}
		l.sleep(1, nil)
	}
	if len(l.waiting) < l.inFlight {
		timer := time.NewTimer(l.linger)
		defer timer.Stop()
		for len(l.waiting) < l.inFlight && !l.closed {
			if !l.sleep(l.inFlight, timer.C) {
				break
			}
		}
	}
	group := l.waiting
	l.waiting = nil
	return group
}

// sleep gives up mu until enough records wait; it reports whether that was so
// before the time was up.
func (l *recordLog) sleep(enough int, timeout <-chan time.Time) bool {
	select { // drop a signal from before
	case <-l.wake:
	default:
	}
	l.enough = enough
	l.mu.Unlock()
	woken := true
	select {
	case <-l.wake:
	case <-timeout:
		woken = false
	}
	l.mu.Lock()
	l.enough = 1
	return woken
}
