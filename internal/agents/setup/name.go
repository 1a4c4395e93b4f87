package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/askback/askback/internal/text/spelling"
)

// unknownClient returns the message for an unknown name of a client.
func unknownClient(name string) string {
	all := Names()
	if like := similarClients(name); len(like) > 0 {
		return fmt.Sprintf("unknown client %s; did you mean %s? The names are %s", name, strings.Join(like, " or "),
			strings.Join(all, ", "))
	}
	return fmt.Sprintf("unknown client %s; use one of %s", name, strings.Join(all, ", "))
}

// maxTypos is the maximum distance between a name and the typed text.
const maxTypos = 2

// similarClients returns the clients with a name similar to the given name. It returns the first group that
// is not empty: clients with a program of this name, names that differ only in punctuation, names of which
// one contains the other, and names that differ in a few letters.
func similarClients(name string) []string {
	letters := strings.NewReplacer("-", "", "_", "", " ", "", ".", "", "visualstudiocode", "vscode")
	typed := letters.Replace(letters.Replace(strings.ToLower(name)))
	if len(typed) < 3 {
		return nil
	}
	for _, similar := range []func(client string) bool{
		func(client string) bool { return slices.Contains(tracesOf(client).Programs, name) },
		func(client string) bool { return letters.Replace(client) == typed },
		func(client string) bool {
			return strings.Contains(typed, letters.Replace(client)) || strings.Contains(letters.Replace(client), typed)
		},
		func(client string) bool {
			return spelling.Distance([]rune(typed), []rune(letters.Replace(client))) <= maxTypos
		},
	} {
		like := slices.DeleteFunc(Names(), func(client string) bool { return !similar(client) })
		if len(like) > 0 {
			return like
		}
	}
	return nil
}
