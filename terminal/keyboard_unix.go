//go:build linux || darwin || freebsd || netbsd || openbsd

package terminal

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// burstTime is the time that a key waits for further keys. Fingers are slower.
const burstTime = 10 * time.Millisecond

// A keyboard reads keys from a terminal. Text that arrives in one burst is marked as a paste.
type keyboard struct {
	*os.File
	burst burst
}

// openKeyboard opens the terminal of this process to read keys.
func openKeyboard() (*keyboard, error) {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &keyboard{File: file}, nil
}

// Read implements [io.Reader]. It returns all bytes that arrived together. p must have room for eight times
// their number, because marks may be added.
func (k *keyboard) Read(p []byte) (int, error) {
	limit := max(1, min(len(p)/8, maxBurst))
	in := make([]byte, limit)
	n, err := k.File.Read(in)
	if err != nil {
		return 0, err
	}
	more := readable(int(k.Fd()), burstTime)
	for n < limit && more {
		m, err := k.File.Read(in[n:])
		if err != nil || m == 0 {
			break
		}
		n += m
		more = readable(int(k.Fd()), burstTime)
	}
	out := k.burst.convert(in[:n])
	k.burst.goesOn = more
	return copy(p, out), nil
}

// readable reports whether the terminal fd has input, or receives input within the given time.
func readable(fd int, within time.Duration) bool {
	for {
		var set unix.FdSet
		set.Set(fd)
		limit := unix.NsecToTimeval(within.Nanoseconds())
		n, err := unix.Select(fd+1, &set, nil, nil, &limit)
		if err != unix.EINTR {
			return err == nil && n > 0
		}
	}
}
