// Package arch tests the structure of the repository.
//
// The tables are in table_test.go: which package may import which, which
// packages are pure, and which package owns which library. A new package needs
// a row there.
//
// The test parses the sources itself. It does not call the go command, because
// the test cache knows only the files that the test itself opens: a violation
// could be reported as "(cached) ok".
//
// Every rule is a function of a tree of parsed files. Each rule is also tested
// with a small tree in memory that violates it.
package arch
