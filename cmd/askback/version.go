package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

// Run prints the version the binary was built from.
func (versionCommand) Run(_ context.Context, io streams) error {
	printLine(io.out, versionLine())
	return nil
}

// versionLine names the version, and what it was built with and for.
func versionLine() string {
	return fmt.Sprintf("askback %s %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
