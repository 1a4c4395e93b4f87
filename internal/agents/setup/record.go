package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/askback/askback/internal/agents/config"
	"github.com/askback/askback/internal/local/instance"
)

// records are the records of the files that askback init has changed, keyed by their absolute path.
type records map[string]config.Record

// recordsPath returns the path of the file with the records, in the state directory.
func (c *Setup) recordsPath() (string, error) {
	dir, err := c.StateDir()
	return filepath.Join(dir, "init.json"), err
}

func (c *Setup) readRecords() (records, error) {
	path, err := c.recordsPath()
	if err != nil {
		return nil, err
	}
	known := records{}
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &known)
	}
	if err != nil {
		return nil, fmt.Errorf("read what askback init has changed (delete the file to go on without it): %w", err)
	}
	return known, nil
}

// writeRecords writes the records, or removes their file if they are empty. Records of files that no
// longer exist are dropped.
func (c *Setup) writeRecords(r records) error {
	path, err := c.recordsPath()
	if err != nil {
		return err
	}
	for file := range r {
		if _, err := os.Lstat(file); errors.Is(err, os.ErrNotExist) {
			delete(r, file)
		}
	}
	if len(r) == 0 {
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	raw, err := json.Marshal(r)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return err
	}
	return instance.WriteFile(path, raw)
}

// restore returns the new content of the file at path when Askback is removed. before is the present content,
// and after is the content without the entries of Askback. If only Askback has changed the file, restore
// returns the content before askback init, and otherwise after. It returns nil, so that the file is removed,
// if askback init created the file and nothing else is in it.
func (r records) restore(path string, before, after []byte) []byte {
	path, err := filepath.Abs(path)
	known, ok := r[path]
	if err != nil || !ok || string(before) == string(after) && after != nil {
		return after
	}
	if original, ok := known.Restore(before); ok && config.SameExceptSpace(original, after) {
		return original
	}
	if known.Missing && config.IsBlank(after) {
		return nil
	}
	return after
}

// update records a change that was made, with the folders that were created for it. It keeps the record of
// the content before the first change of askback init. If another program or a person has changed the file in
// between, update replaces that record.
func (r records) update(path string, c change, folders []string) {
	last, known := r[path]
	original, restorable := c.before, true
	if known {
		original, restorable = last.Restore(c.before)
	}
	var next config.Record
	switch {
	case c.removes && (!known || restorable && string(original) == string(c.after)):
		delete(r, path)
		return
	case restorable:
		next = config.NewRecord(original, c.after)
	default:
		next = config.NewRecord(c.before, c.after)
		next.Missing = last.Missing || c.before == nil
	}
	next.Folders = slices.Concat(last.Folders, folders)
	r[path] = next
}

// own adds a folder to the record of a file in it, so that removing the file also removes the folder.
func (r records) own(folder string) {
	for path, one := range r {
		if strings.HasPrefix(path, folder+string(filepath.Separator)) {
			one.Folders = append([]string{folder}, one.Folders...)
			r[path] = one
			return
		}
	}
}
