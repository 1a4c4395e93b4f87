package hook

import (
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/askback/askback"
)

// maxLabel is the maximum length of each part of a label, in characters, because labels are
// shown in lists.
const maxLabel = 40

// labelSeparator is between the two parts of a label.
const labelSeparator = " · "

// Label returns the name of an agent for people: its program and the folder in which it works, as in "codex ·
// shop". folder is a path, or the name of a folder. If program or folder is "", Label returns the program.
func Label(program, folder string) string {
	program = oneLine(program)
	folder = oneLine(path.Base(strings.ReplaceAll(folder, `\`, "/")))
	if program == "" || folder == "." || folder == "/" || folder == "" {
		return program
	}
	return program + labelSeparator + folder
}

// clientSuffix matches a name with at least three characters before an end that only describes a client, as in
// qwen-cli-mcp-client-SERVER and continue-cli-client.
var clientSuffix = regexp.MustCompile(`(?i)^(.{3,}?)[-_ ]` +
	`(?:(?:cli[-_ ])?mcp[-_ ]client(?:[-_ ].*)?|(?:cli|mcp|acp)[-_ ](?:cli|client))$`)

// genericPackage matches the name of a package that does not name its program, as in @cline/core.
var genericPackage = regexp.MustCompile(`(?i)^(?:(?:acp|agent|app|cli|client|core|mcp|sdk)(?:[-_]|$))+$`)

// ReadableName returns the name of a program, from the name that the program sends as a client. It omits the
// parts that only describe a client, and the scope of a package in npm.
func ReadableName(name string) string {
	if scope, inScope, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(scope, "@") && inScope != "" {
		name = inScope
		if scope = scope[1:]; scope != "" && genericPackage.MatchString(name) {
			return scope
		}
	}
	if m := clientSuffix.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

// IsBy reports whether an ask has the label of a program.
func IsBy(ask askback.Ask, program string) bool { return programIn(ask.Agent) == program }

// programIn returns the program in a label.
func programIn(label string) string {
	program, _, _ := strings.Cut(label, labelSeparator)
	return program
}

// oneLine returns a name as one short line of printable characters.
func oneLine(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, " "))
	name = strings.Join(strings.Fields(name), " ")
	if r := []rune(name); len(r) > maxLabel {
		name = strings.TrimSpace(string(r[:maxLabel-1])) + "…"
	}
	return name
}
