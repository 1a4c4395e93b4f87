package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of /proc/stat: 1/100 s on Linux (USER_HZ).
const tick = 10 * time.Millisecond

func readUsage() usage {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return usage{}
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	var busy int64
	for i, field := range strings.Fields(line)[1:] {
		n, err := strconv.ParseInt(field, 10, 64)
		const idle, ioWait, guest = 3, 4, 8 // guest time is included in user time
		if err != nil || i == idle || i == ioWait || i >= guest {
			continue
		}
		busy += n
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return usage{}
	}
	return usage{time.Duration(busy) * tick, time.Duration(own.Utime.Nano() + own.Stime.Nano())}
}

// resident returns the resident memory of this process in bytes, or 0 if it is
// unknown.
func resident() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseInt(fields[0], 10, 64)
	return kilobytes << 10
}
