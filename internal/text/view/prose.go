package view

import (
	"regexp"
	"strings"

	"github.com/askback/askback/internal/text/markdown"
)

// maxProse is the size limit, in bytes, of a preview that may be Markdown to be read. Each view of an ask reads it.
const maxProse = 20_000

// formattedPreview returns a preview as formatted text, if it has blocks of code or is Markdown to be read, such
// as a letter or a table. Otherwise it returns nil, and the preview is shown exactly: code, a drawing or a file.
func formattedPreview(s string) Markdown {
	if doc := fenced(s); doc != nil {
		return doc
	}
	if len(s) > maxProse || strings.Contains(s, "```") || !isProse(s) {
		return nil
	}
	return markdown.Parse(s)
}

// These marks are rare outside of Markdown. Lists, single stars and headings of one # are not: code, settings and
// comments have them.
var (
	strongMark  = regexp.MustCompile(`(^|[\s("'>])\*\*[^\s*]([^*]*[^\s*])?\*\*`)
	linkMark    = regexp.MustCompile(`\[[^\]]+\]\((https?://|mailto:)[^)\s]+\)`)
	headingMark = regexp.MustCompile(`^ {0,3}##+ \S`)
	dividerMark = regexp.MustCompile(`^ {0,3}\|?( *:?-+:? *\|)+( *:?-+:? *)?$`)
	listMark    = regexp.MustCompile(`^ *([-*•]|\d{1,3}[.)]) `)
	// what code and drawings have, and text that people write has not
	codeMark = regexp.MustCompile(`[{}\[(;\\]$|:=|==|=>|->|\(\);|</|/>|\$\{| = |\+[-=]|[─-▟]|   |\t|` +
		`^(import|func|def|class|const|let|var|package|SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER) |` +
		`^(#!|\$ |//|/\*|@@|\+|<)`)
)

// isProse reports whether s has a mark of Markdown, and no line that may be code or a part of a drawing.
func isProse(s string) bool {
	isMarked, inList := false, false
	lines := strings.Split(s, "\n")
	hasTable := hasDivider(lines)
	for _, line := range lines {
		line = strings.TrimRight(line, " \r")
		isItem := listMark.MatchString(line)
		isIndented := strings.HasPrefix(line, "  ") && !isItem && !inList
		isRow := hasTable && strings.Contains(line, "|")
		if !isRow && (isIndented || strings.Contains(line, "|") || codeMark.MatchString(strings.TrimLeft(line, " "))) {
			return false
		}
		inList = isItem || inList && (line == "" || strings.HasPrefix(line, " "))
		isMarked = isMarked || isRow || strongMark.MatchString(line) || linkMark.MatchString(line) ||
			headingMark.MatchString(line)
	}
	return isMarked
}

// hasDivider reports whether the lines have a table: a row with a bar, and a divider below it.
func hasDivider(lines []string) bool {
	for i := 1; i < len(lines); i++ {
		if strings.Contains(lines[i-1], "|") && dividerMark.MatchString(strings.TrimRight(lines[i], " \r")) {
			return true
		}
	}
	return false
}
