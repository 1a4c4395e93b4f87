package compat

// Split is split, for the law that it loses nothing.
var Split = split
