package compat

// Split is split, for its fuzz test.
var Split = split
