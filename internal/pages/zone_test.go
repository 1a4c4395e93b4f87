package pages_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each time on a page is exact for programs, and has its date and zone, in the text or in the title.
func TestEachTimeHasItsDateAndZone(t *testing.T) {
	files, err := filepath.Glob("*.templ")
	if err != nil {
		t.Fatal(err)
	}
	element := regexp.MustCompile(`(?s)<time\b.*?</time>`)
	times := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range element.FindAllString(string(text), -1) {
			times++
			if !strings.Contains(one, "datetime={ machineTime(") ||
				!strings.Contains(one, "f.when(") && !strings.Contains(one, "a moment ago") {
				t.Errorf("%s: a time without its date and zone:\n%s", name, one)
			}
		}
	}
	if times < 20 {
		t.Errorf("found %d times, want all", times)
	}
}
