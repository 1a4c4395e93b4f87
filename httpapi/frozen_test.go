package httpapi_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/askback/askback/test/kit/racedetector"
)

// changedSince has the exchanges of frozen dialogues whose replies changed, such as "ask.txtar 3", and why.
// Each change is announced as docs/versions.md says.
var changedSince = map[string]string{}

// testdata/v0.tar.gz has the dialogues of the first release. Each later release replies to their requests
// with at least the same: the status, the headers, and the fields with their values. It may add fields, and
// elements at the end of a list. The text of errors, warnings and contexts may change. The archive is never
// made again. The dialogues of another release are frozen by
//
//	tar --sort=name --owner=0 --group=0 --mtime=@0 -C httpapi/testdata -cf - dialogue | gzip -9n
func TestRepliesHaveWhatTheyHadInTheFirstRelease(t *testing.T) {
	racedetector.Omit(t)
	for name, text := range unpack(t, "testdata/v0.tar.gz") {
		t.Run(strings.TrimSuffix(name, ".txtar"), func(t *testing.T) {
			s := newDialogue(t)
			files := txtar.Parse(text).Files
			for i := 0; i+1 < len(files); i += 2 {
				request, want := string(files[i].Data), string(files[i+1].Data)
				exchange := fmt.Sprintf("%s %d", name, i/2+1)
				err := s.compare(want, withoutSecrets(s.reply(request)))
				if err != nil && changedSince[exchange] == "" {
					t.Errorf("%s: %v; the request was\n%s", exchange, err, request)
				}
			}
		})
	}
}

// unpack returns the files of an archive by their names without folders.
func unpack(t *testing.T, archive string) map[string][]byte {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if files[path.Base(h.Name)], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) == 0 {
		t.Fatalf("%s has no files", archive)
	}
	return files
}

// compare compares a frozen reply with a reply of this release, which may have more.
func (s *dialogue) compare(want, got string) error {
	wantHead, wantBody, _ := strings.Cut(want, "\n\n")
	gotHead, gotBody, _ := strings.Cut(got, "\n\n")
	if err := s.match(wantHead, gotHead); err != nil {
		return err
	}
	wantBody, gotBody = strings.TrimSpace(wantBody), strings.TrimSpace(gotBody)
	switch kind, _, _ := strings.Cut(headerOf(wantHead, "Content-Type"), ";"); kind {
	case "application/json", "application/problem+json":
		return s.includes("", valueOf(wantBody), valueOf(gotBody))
	case "text/event-stream":
		wants, gots := strings.Split(wantBody, "\n"), strings.Split(gotBody, "\n")
		for i, line := range wants {
			data, isData := strings.CutPrefix(line, "data: ")
			switch {
			case i >= len(gots):
				return fmt.Errorf("the stream ends before %q", line)
			case !isData && line != gots[i]:
				return fmt.Errorf("got the line %q, want %q", gots[i], line)
			case isData:
				err := s.includes("data", valueOf(data), valueOf(strings.TrimPrefix(gots[i], "data: ")))
				if err != nil {
					return err
				}
			}
		}
	}
	return nil // other texts are for people and models
}

func headerOf(head, name string) string {
	for line := range strings.Lines(head) {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// valueOf returns the value of a text of JSON, or the text if it is not JSON.
func valueOf(text string) (v any) {
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return v
}

// prose are the fields whose text may change.
var prose = []string{"detail", "fix", "example", "title", "additionalContext", "permissionDecisionReason", "text"}

// includes returns an error if got lacks something of want. The place names the value in errors.
func (s *dialogue) includes(place string, want, got any) error {
	switch want := want.(type) {
	case map[string]any:
		have, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: got %v, want an object", place, got)
		}
		_, isProblem := want["type"].(string)
		for key, value := range want {
			there, ok := have[key]
			switch _, isText := value.(string); {
			case !ok:
				return fmt.Errorf("%s/%s is missing", place, key)
			case key == "warnings", isText && slices.Contains(prose, key) && (key != "title" || isProblem):
				continue
			}
			if err := s.includes(place+"/"+key, value, there); err != nil {
				return err
			}
		}
	case []any:
		have, ok := got.([]any)
		if !ok || len(have) < len(want) {
			return fmt.Errorf("%s: got %v, want at least %d elements", place, got, len(want))
		}
		for i := range want {
			if err := s.includes(fmt.Sprintf("%s/%d", place, i), want[i], have[i]); err != nil {
				return err
			}
		}
	case string:
		have, ok := got.(string)
		if !ok {
			return fmt.Errorf("%s: got %v, want %q", place, got, want)
		}
		if err := s.match(want, have); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	default:
		if want != got {
			return fmt.Errorf("%s: got %v, want %v", place, got, want)
		}
	}
	return nil
}

// match compares two texts. A frozen id that is not known yet gets the id that is in its place in got.
func (s *dialogue) match(want, got string) error {
	wants, gots := anyID.FindAllString(want, -1), anyID.FindAllString(got, -1)
	if len(wants) != len(gots) || anyID.ReplaceAllString(want, "ID") != anyID.ReplaceAllString(got, "ID") {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	for i, frozen := range wants {
		known := slices.IndexFunc(s.ids, func(pair [2]string) bool { return pair[1] == frozen })
		if known < 0 {
			s.ids = append(s.ids, [2]string{gots[i], frozen})
		} else if s.ids[known][0] != gots[i] {
			return fmt.Errorf("got %q, want the id %s in %q", got, s.ids[known][0], want)
		}
	}
	return nil
}
