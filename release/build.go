package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A build is a release under construction.
type build struct {
	dist       string // folder of the artefacts
	repository string // root folder of the repository
	version    string // without the v of the tag, such as 0.1.0
	time       time.Time
	programs   []program
}

// A program is askback for one platform.
type program struct {
	Path string // of the file
	OS   string // GOOS
	Arch string // GOARCH
	ARM  string // GOARM, if Arch is arm
}

// readBuild reads what GoReleaser wrote to a folder. The time of the files of a release is SOURCE_DATE_EPOCH,
// in seconds since 1970.
func readBuild(dist, repository string) (build, error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return build{}, fmt.Errorf("set SOURCE_DATE_EPOCH to the time of the commit, in seconds: %w", err)
	}
	var about struct{ Version string }
	if err := readJSON(filepath.Join(dist, "metadata.json"), &about); err != nil {
		return build{}, err
	}
	var artifacts []struct {
		Type   string
		Path   string // relative to the folder in which GoReleaser ran
		Goos   string
		Goarch string
		Goarm  string
	}
	if err := readJSON(filepath.Join(dist, "artifacts.json"), &artifacts); err != nil {
		return build{}, err
	}
	b := build{dist: dist, repository: repository, version: about.Version, time: time.Unix(seconds, 0).UTC()}
	for _, a := range artifacts {
		if a.Type != "Binary" {
			continue
		}
		path := filepath.Join(dist, filepath.Base(filepath.Dir(a.Path)), filepath.Base(a.Path))
		b.programs = append(b.programs, program{Path: path, OS: a.Goos, Arch: a.Goarch, ARM: a.Goarm})
	}
	if len(b.programs) == 0 {
		return build{}, fmt.Errorf("%s has no program", dist)
	}
	return b, nil
}

func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
