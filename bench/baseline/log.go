package baseline

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// segment is how long the file is. It is written full of zeros beforehand and
// begun again when it is full, as write-ahead logs of databases are: a flush
// need not wait for the file system to enlarge the file, which takes half as
// long again.
const segment = 64 << 20

// recordLog makes records durable, those that come at about the same time with
// one flush.
type recordLog struct {
	file   *os.File
	linger time.Duration
	offset int64 // used by the writer alone

	mu       sync.Mutex
	wake     *sync.Cond // the writer waits on it
	inFlight int        // requests that have come and are not answered
	waiting  []record   // for the next flush
	enough   int        // so many wake the writer
}

type record struct {
	bytes   []byte
	durable chan error
}

func openLog(path string, linger time.Duration) (*recordLog, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(make([]byte, segment))
	if err = errors.Join(err, file.Sync()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	l := &recordLog{file: file, linger: linger, enough: 1}
	l.wake = sync.NewCond(&l.mu)
	go l.write()
	return l, nil
}

// enter counts a request that may append a record; leave, that it is answered.
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
	r := record{bytes, make(chan error, 1)}
	l.mu.Lock()
	l.waiting = append(l.waiting, r)
	if len(l.waiting) >= l.enough {
		l.wake.Signal()
	}
	l.mu.Unlock()
	return <-r.durable
}

// write flushes groups of records.
func (l *recordLog) write() {
	var buffer []byte
	for {
		group := l.take()
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

// take waits for records. While requests are in flight that have not got here
// it waits for them too, but no longer than linger. A record alone is taken at
// once.
func (l *recordLog) take() []record {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) == 0 {
		l.wake.Wait()
	}
	if len(l.waiting) < l.inFlight {
		expired := false
		timer := time.AfterFunc(l.linger, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			expired = true
			l.wake.Signal()
		})
		defer timer.Stop()
		for len(l.waiting) < l.inFlight && !expired {
			l.enough = l.inFlight
			l.wake.Wait()
		}
		l.enough = 1
	}
	group := l.waiting
	l.waiting = nil
	return group
}
