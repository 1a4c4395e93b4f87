package jcs_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/askback/askback/internal/wire/jcs"
)

// FuzzParse checks every parsed tree and every error against the source.
func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, src []byte) {
		checkSkim(t, src)
		v, err := jcs.Parse(src)
		if err != nil {
			checkPosition(t, src, err)
			return
		}
		checkTree(t, src, v, 0)
		if rest := bytes.Trim(append(src[:v.Offset:v.Offset], src[v.End:]...), " \t\r\n"); len(rest) > 0 {
			t.Errorf("%q is outside of the value", rest)
		}
	})
}

// checkPosition checks that an error names a position in the text and is short.
func checkPosition(t *testing.T, src []byte, err error) {
	t.Helper()
	var e *jcs.SyntaxError
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *SyntaxError", err)
	}
	if e.Offset < 0 || e.Offset > len(src) || e.Pointer != "" && e.Pointer[0] != '/' ||
		len(e.Detail) > 200 || len(e.Error()) > 1000 {
		t.Errorf("got a position outside the text, or a long detail: %+v", e)
	}
	if line, column := jcs.Position(src, e.Offset); line != e.Line || column != e.Column {
		t.Errorf("got %d:%d, want %d:%d, the position of byte %d", e.Line, e.Column, line, column, e.Offset)
	}
}

// checkTree checks that the offsets of a value are right, that no name occurs twice, and
// that the depth is allowed.
func checkTree(t *testing.T, src []byte, v jcs.Value, depth int) {
	t.Helper()
	if v.Kind == jcs.Missing || v.Offset >= v.End || v.End > len(src) || depth > jcs.MaxDepth {
		t.Fatalf("got %v at %d to %d, %d deep", v.Kind, v.Offset, v.End, depth)
	}
	if again, err := jcs.Parse(v.Raw(src)); err != nil || again.Kind != v.Kind || again.Text() != v.Text() ||
		again.Bool() != v.Bool() {
		t.Errorf("got %v %q %v from the raw bytes of %v %q", again.Kind, again.Text(), err, v.Kind, v.Text())
	}
	for _, e := range v.Elements() {
		checkTree(t, src, e, depth+1)
	}
	seen := map[string]bool{}
	for _, m := range v.Members() {
		if seen[m.Name] || src[m.Offset] != '"' || m.Offset >= m.Value.Offset {
			t.Errorf("got the name %q at %d, of a value at %d, seen before: %t", m.Name, m.Offset, m.Value.Offset,
				seen[m.Name])
		}
		seen[m.Name] = true
		checkTree(t, src, m.Value, depth+1)
	}
}

// FuzzCanonical compares canonical forms and digests with another strict parser, and
// checks that the canonical form of a canonical form is the same.
func FuzzCanonical(f *testing.F) {
	f.Fuzz(func(t *testing.T, src []byte) {
		agree(t, src)
		form, err := jcs.Canonical(src)
		if err != nil {
			if _, err := jcs.ConfirmationDigest("a", "s", "t", src); err == nil {
				t.Error("got a digest for a text without canonical form")
			}
			return
		}
		if strings.ContainsAny(string(form), "\t\r\n") {
			t.Errorf("got white space in %q", form)
		}
		of, err := jcs.ConfirmationDigest("a", "s", "t", src)
		same, sameErr := jcs.ConfirmationDigest("a", "s", "t", form)
		if err != nil || sameErr != nil || of != same {
			t.Errorf("got %s %v, and of its canonical form %s %v", of, err, same, sameErr)
		}
	})
}
