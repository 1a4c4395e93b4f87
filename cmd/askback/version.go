package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(_ context.Context, io streams) error {
	printLine(io.out, versionLine())
	return nil
}

// versionLine returns the version of the program, of Go and the platform.
func versionLine() string {
	return fmt.Sprintf("askback %s %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
