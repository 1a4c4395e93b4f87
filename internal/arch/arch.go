// Package arch holds the shape of the repository as a test.
//
// The tables are in table_test.go: who may import whom, which packages are
// pure, which package owns which library. A new package gets its row there, or
// the test fails.
//
// The test parses the sources itself and never asks the go command. The test
// cache knows the files that a test opens, but not the files that a child
// process opens: with go list, a broken rule could still print "(cached) ok".
//
// Every rule is a function over a tree of parsed files. The same function runs
// over this repository and over small trees in memory that break the rule, so
// each rule is seen to fail.
package arch
