package config

import (
	"os"
	"path/filepath"
	"time"
)

// InFolderOf returns the absolute form of a path that is written in a file. A relative path
// starts at the folder of that file.
func InFolderOf(file, path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	return filepath.Abs(filepath.Join(filepath.Dir(file), path))
}

// A FileVersion is the modification time and the size of a file. A change of the file changes its version.
type FileVersion struct {
	Path     string // "" if only one file is compared
	modified time.Time
	size     int64
}

// VersionOf returns the version of the file at path, or the zero value if it cannot be
// determined, as when the file does not exist.
func VersionOf(path string) FileVersion {
	info, err := os.Stat(path)
	if err != nil {
		return FileVersion{}
	}
	return FileVersion{modified: info.ModTime(), size: info.Size()}
}
