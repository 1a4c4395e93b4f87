package config

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"

	"github.com/askback/askback/internal/text/linediff"
)

// A Record contains the changes that restore a file to the byte, as it was before Askback was added. It
// contains only the changed lines of the file.
type Record struct {
	Missing bool         `json:"missing,omitempty"` // the file did not exist
	Folders []string     `json:"folders,omitempty"` // the folders that were created for the file, the outermost first
	Sum     string       `json:"sum"`               // the SHA-256 of the file with Askback
	Steps   []RecordStep `json:"steps,omitempty"`
}

// A RecordStep is a step from the file with Askback to the file before: keep lines, then drop lines, then
// insert a text.
type RecordStep struct {
	Keep   int    `json:"keep,omitempty"`
	Drop   int    `json:"drop,omitempty"`
	Insert string `json:"insert,omitempty"`
}

// NewRecord returns the record of an edit from original to after. If original is nil, the file did not exist.
func NewRecord(original, after []byte) Record {
	r := Record{Missing: original == nil, Sum: sumOf(after)}
	var step RecordStep
	for _, o := range linediff.Compare(strings.SplitAfter(string(after), "\n"),
		strings.SplitAfter(string(original), "\n")) {
		if o.Sign == ' ' && (step.Drop > 0 || step.Insert != "") {
			r.Steps, step = append(r.Steps, step), RecordStep{}
		}
		switch o.Sign {
		case ' ':
			step.Keep++
		case '-':
			step.Drop++
		case '+':
			step.Insert += o.Text
		}
	}
	r.Steps = append(r.Steps, step)
	return r
}

// Restore returns the file as it was before Askback was added, or nil if it did not exist. ok is false if
// present is not the recorded content, because another program or a person has changed the file since.
func (r Record) Restore(present []byte) (original []byte, ok bool) {
	if present == nil || r.Sum != sumOf(present) {
		return nil, false
	}
	if r.Missing {
		return nil, true
	}
	lines := strings.SplitAfter(string(present), "\n")
	var out strings.Builder
	for _, s := range r.Steps {
		if s.Keep < 0 || s.Drop < 0 || s.Keep > len(lines) || s.Drop > len(lines)-s.Keep {
			return nil, false
		}
		out.WriteString(strings.Join(lines[:s.Keep], "") + s.Insert)
		lines = lines[s.Keep+s.Drop:]
	}
	return []byte(out.String()), len(lines) == 0
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// SameExceptSpace reports whether two contents of a file differ only in white space and in optional commas. A
// comma after the last entry of a list is optional. An empty object or list counts as missing, and so does an
// empty file.
func SameExceptSpace(a, b []byte) bool { return squeeze(a) == squeeze(b) }

// IsBlank reports whether a file contains only white space, an empty object, or members without content.
func IsBlank(content []byte) bool { return squeeze(content) == "" }

// emptyMember matches a member without content, and the comma after it.
var emptyMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"[^"\\]*":(\{\}|\[\]),?`) })

func squeeze(content []byte) string {
	s := strings.Join(strings.Fields(string(content)), "")
	for before := ""; s != before; {
		before, s = s, emptyMember().ReplaceAllString(s, "")
		s = strings.NewReplacer(",}", "}", ",]", "]").Replace(s)
	}
	if s == "{}" {
		return ""
	}
	return s
}
