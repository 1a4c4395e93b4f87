// Package arch tests the structure of the repository.
//
// The tables are in table_test.go: which package may import which, which
// packages are pure (they only compute), and which package owns which library.
// A new package needs a row there.
//
// The tests parse the sources and do not call the go command, because the test
// cache knows only the files that a test itself opens. With the go command, go
// test could print "(cached)" although a file now violates a rule.
//
// Every rule is a function of a tree of parsed files. Each rule is also tested
// with a small tree in memory that violates it.
package arch
