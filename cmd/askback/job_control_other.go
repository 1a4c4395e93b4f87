//go:build !unix

package main

// ignoreJobControl does nothing where there is no job control.
func ignoreJobControl() {}
