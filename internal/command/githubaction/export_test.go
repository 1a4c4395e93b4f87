package githubaction

// Inputs returns the names of all inputs that [Read] reads.
func Inputs() []string { return append(content[:], "key") }
