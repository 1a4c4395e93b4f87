//go:build !linux

package main

// Processors and memory are measured on Linux only.

func readUsage() usage { return usage{} }

func resident() int64 { return 0 }
