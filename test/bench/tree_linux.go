package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// treeTime returns the processor time of a process and of its descendants, including descendants that have
// ended and were waited for.
func treeTime(pid int) time.Duration {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0
	}
	parents, times := map[int]int{}, map[int]time.Duration{}
	for _, name := range stats {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		of, parent, spent := parseStat(string(raw))
		parents[of], times[of] = parent, spent
	}
	var sum time.Duration
	for of, spent := range times {
		for above := of; above > 1; above = parents[above] {
			if above == pid {
				sum += spent
				break
			}
		}
	}
	return sum
}

// parseStat returns the process, its parent, and the processor time of both the process and its ended
// children, from a line of /proc/PID/stat. For a line with missing fields, all results are zero.
func parseStat(line string) (pid, parent int, spent time.Duration) {
	number, rest, _ := strings.Cut(line, " ")
	fields := strings.Fields(rest[strings.LastIndexByte(rest, ')')+1:]) // the name may contain spaces
	const parentField, firstTime, lastTime = 1, 11, 14                  // after the name
	if len(fields) <= lastTime {
		return 0, 0, 0
	}
	pid, _ = strconv.Atoi(number)
	parent, _ = strconv.Atoi(fields[parentField])
	for _, field := range fields[firstTime : lastTime+1] {
		ticks, _ := strconv.ParseInt(field, 10, 64)
		spent += time.Duration(ticks) * tick
	}
	return pid, parent, spent
}
