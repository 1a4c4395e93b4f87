//go:build !unix

package main

// ignoreJobControl does nothing: this system has no job control.
func ignoreJobControl() {}
