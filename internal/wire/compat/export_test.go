package compat

// Split is split, for tests.
var Split = split

// Clients returns the names of the clients, sorted.
func Clients() (names []string) {
	for _, c := range clients {
		names = append(names, c.Name)
	}
	return names
}
