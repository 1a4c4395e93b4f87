package agentconfig

import (
	"errors"
	"regexp"
	"strings"
)

// Between these two lines everything is ours.
const (
	tomlBegin = "# askback: begin. Written by askback init; taken out by its --remove."
	tomlEnd   = "# askback: end."
)

// taken matches our server in a file, however it is written there: as a table,
// or by a key of a table that is written otherwise.
var taken = regexp.MustCompile(`(?m)^\s*(\[+\s*["']?mcp_servers["']?\s*\.\s*["']?askback\b|["']?mcp_servers["']?\s*(=|\.\s*["']?askback\b)|["']?askback["']?\s*[.=])`)

// editTOML puts our lines at the end of a file, where a table can always begin,
// between two marks. There is no need to understand the rest.
func editTOML(f File, present []byte) ([]byte, error) {
	text := string(present)
	newline := spread(text, "\n")
	if _, block, marked := strings.Cut(text, tomlBegin); marked && !strings.HasPrefix(block, "\r") {
		newline = "\n" // as the block has it, whatever else the file has
	}
	before, after, err := cutMarked(text, newline)
	if err != nil {
		return nil, err
	}
	if taken.MatchString(before + after) {
		if f.remove {
			return nil, errors.New("an MCP server askback stands there that was written by hand")
		}
		return nil, errors.New("an MCP server askback, or the table it belongs to, stands there already, written by hand")
	}
	if f.remove {
		if after == "" && strings.HasSuffix(before, newline+newline) {
			before = strings.TrimSuffix(before, newline) // the empty line that we put there
		}
		return []byte(before + after), nil
	}
	block := tomlBegin + newline + strings.ReplaceAll(f.paste, "\n", newline) + tomlEnd + newline
	switch marked := strings.Contains(text, tomlBegin); {
	case marked:
		return []byte(before + block + after), nil
	case before != "" && !strings.HasSuffix(before, "\n"):
		before += newline
	}
	if before != "" {
		before += newline
	}
	return []byte(before + block), nil
}

// cutMarked takes out what is between the marks, and the marks.
func cutMarked(text, newline string) (before, after string, err error) {
	begin, end := strings.Count(text, tomlBegin), strings.Count(text, tomlEnd)
	if begin == 0 && end == 0 {
		return text, "", nil
	}
	before, rest, _ := strings.Cut(text, tomlBegin)
	_, after, found := strings.Cut(rest, tomlEnd)
	if begin != 1 || end != 1 || !found {
		return "", "", errors.New("the marks of askback are broken")
	}
	return before, strings.TrimPrefix(after, newline), nil
}
