package main

import (
	"cmp"
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

// release is the version of a released program, such as v0.1.0. The linker sets it.
var release string

// version returns the version of the release, or else the version that Go has for the build.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return cmp.Or(release, info.Main.Version, "unknown")
	}
	return cmp.Or(release, "unknown")
}
