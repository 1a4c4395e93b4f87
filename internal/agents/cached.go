package agents

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// IsCached reports whether a package manager may remove the program at path while Askback is in use, or may
// rename its folder with the next version. Such paths are not written into files of agents. They are in the
// caches of npx, pnpm dlx, yarn dlx, bunx and go run, and in the stores of pnpm, Yarn and Nix.
func IsCached(path string) bool {
	path = filepath.ToSlash(path)
	return strings.HasPrefix(path, "/nix/store/") ||
		slices.ContainsFunc(strings.Split(path, "/"), func(folder string) bool {
			return slices.Contains([]string{"_npx", "dlx", ".pnpm", ".yarn"}, folder) ||
				strings.HasPrefix(folder, "dlx-") || strings.HasPrefix(folder, "bunx-")
		}) || strings.Contains(path, "/go-build") && strings.HasSuffix(filepath.ToSlash(filepath.Dir(path)), "/exe")
}

// CopyPath returns the path of the copy of a program that is in a cache, which agents run instead. state is
// the state directory.
func CopyPath(state string) string {
	name := "askback"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(RealPath(filepath.Join(state, "bin")), name) // hooks compare the path with their own
}
