package agentconfig

import (
	"errors"
	"regexp"
	"strings"
)

// In a TOML file, the lines of Askback are a block that starts with tomlBegin and ends with
// tomlEnd. Both are stable, so that later versions find the block. The hint may change.
const (
	tomlBegin = "# askback: begin."
	tomlHint  = " Added by askback init; remove it with askback init --remove."
	tomlEnd   = "# askback: end."
)

// handWritten matches an MCP server named askback that a person wrote, as a table or as a key
// of another table. It also matches an inline table mcp_servers, which cannot be extended.
var handWritten = regexp.MustCompile(`(?m)^\s*(\[+\s*["']?mcp_servers["']?\s*\.\s*["']?askback\b|["']?mcp_servers["']?\s*(=|\.\s*["']?askback\b)|["']?askback["']?\s*[.=])`)

// editTOML adds, replaces or removes the block of Askback. A new block is added at the end,
// where a table can always begin. The rest of the file is not parsed.
func editTOML(f File, present []byte) ([]byte, error) {
	text := string(present)
	newline := withNewlines(text, "\n")
	_, block, marked := strings.Cut(text, tomlBegin)
	if marked {
		newline = withNewlines(block[:strings.IndexByte(block, '\n')+1], "\n") // the same line ends as in the block
	}
	before, after, err := cutBlock(text, newline)
	if err != nil {
		return nil, err
	}
	if handWritten.MatchString(before + after) {
		if f.remove {
			return nil, errors.New("the MCP server askback was written by hand")
		}
		return nil, errors.New("the MCP server askback, or the table it belongs to, is already there and was written by hand")
	}
	if f.remove {
		if after == "" && strings.HasSuffix(before, newline+newline) {
			before = strings.TrimSuffix(before, newline) // the empty line before the block
		}
		return []byte(before + after), nil
	}
	if !marked && before != "" {
		if !strings.HasSuffix(before, "\n") {
			before += newline
		}
		before += newline
	}
	block = tomlBegin + tomlHint + newline + strings.ReplaceAll(f.paste, "\n", newline) + tomlEnd + newline
	return []byte(before + block + after), nil
}

// cutBlock returns the text before and after the block of Askback. It returns an error if only
// a part of the block exists, or more than one block.
func cutBlock(text, newline string) (before, after string, err error) {
	begin, end := strings.Count(text, tomlBegin), strings.Count(text, tomlEnd)
	if begin == 0 && end == 0 {
		return text, "", nil
	}
	before, rest, _ := strings.Cut(text, tomlBegin)
	_, after, found := strings.Cut(rest, tomlEnd)
	if begin != 1 || end != 1 || !found {
		return "", "", errors.New("the marker lines of askback are damaged")
	}
	return before, strings.TrimPrefix(after, newline), nil
}
