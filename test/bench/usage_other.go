//go:build !linux

package main

// Processors and memory are only looked at on Linux.

func readUsage() usage { return usage{} }

func resident() int64 { return 0 }
