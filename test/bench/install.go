package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// peersFolder is the folder of the programs of the peers in the repository.
const peersFolder = "test/bench/peers"

// peerCache returns the folder in which the peers are installed: ASKBACK_PEERS, or else a folder in the cache
// of the user.
func peerCache() (string, error) {
	if dir := os.Getenv("ASKBACK_PEERS"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "askback", "peers"), err
}

// peerSources returns the folder with the programs of the peers, in the working directory or above.
func peerSources() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if sources := filepath.Join(dir, peersFolder); isFolder(sources) {
			return sources, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", fmt.Errorf("there is no folder %s: run the benchmark inside the repository", peersFolder)
		}
		dir = above
	}
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// install installs a peer. It copies the program of the peer and the shared files of all peers to a folder in
// the cache, and runs the set-up commands of the peer there. It does so once for each version of these files
// and commands. It returns the folder to start the peer in.
func install(ctx context.Context, p peer, cache string, notes io.Writer) (string, error) {
	sources, err := peerSources()
	if err != nil {
		return "", err
	}
	files, err := peerFiles(sources, p.name)
	if err != nil {
		return "", err
	}
	top := filepath.Join(cache, p.name+"-"+digestOf(files, p.setup))
	folder, done := filepath.Join(top, p.name), filepath.Join(top, "installed")
	if _, err := os.Stat(done); err == nil {
		return folder, nil
	}
	fmt.Fprintf(notes, "bench: install %s in %s\n", p.name, top)
	for name, raw := range files {
		to := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, raw, 0o644)); err != nil {
			return "", err
		}
	}
	for _, command := range p.setup {
		if err := runSetup(ctx, command, folder); err != nil {
			return "", err
		}
	}
	return folder, os.WriteFile(done, nil, 0o644)
}

func runSetup(ctx context.Context, command []string, folder string) error {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir = folder
	separateGroup(c)
	c.Cancel = func() error { killGroup(c); return nil }
	c.Env = append(os.Environ(), "GOWORK=off")
	var out tail
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, &out)
	}
	return nil
}

// peerFiles returns the files of a peer and the files that all peers share, keyed by their path in the folder
// of all peers. It omits installed packages, and the documents about all peers.
func peerFiles(sources, name string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(sources), ".", func(path string, d fs.DirEntry, err error) error {
		switch top, _, below := strings.Cut(path, "/"); {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || path != "." && top != name && top != "cycle"):
			return fs.SkipDir
		case d.IsDir() || !below && filepath.Ext(path) == ".md":
			return nil
		}
		files[path], err = os.ReadFile(filepath.Join(sources, path))
		return err
	})
	if err == nil && !isFolder(filepath.Join(sources, name)) {
		err = fmt.Errorf("there is no folder %s in %s", name, sources)
	}
	return files, err
}

// digestOf returns a short digest of files and commands.
func digestOf(files map[string][]byte, commands [][]string) string {
	sum := sha256.New()
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(sum, "%s %d\n", name, len(files[name]))
		_, _ = io.Copy(sum, bytes.NewReader(files[name])) // a hash returns no errors
	}
	fmt.Fprint(sum, commands)
	return hex.EncodeToString(sum.Sum(nil))[:16]
}
