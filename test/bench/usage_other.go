//go:build !linux

package main

import "time"

// Processors and memory are measured on Linux only.

func readUsage() usage { return usage{} }

func resident() int64 { return 0 }

func treeTime(int) time.Duration { return 0 }
