package compat

// Split is split, for tests.
var Split = split
