package agents_test

import (
	"testing"

	"github.com/askback/askback/internal/agents"
)

// Paths that a package manager removes or renames are recognised. Installed programs are not.
func TestCachedProgramsAreRecognised(t *testing.T) {
	for path, want := range map[string]bool{
		"/home/ana/.npm/_npx/1f2e3d/node_modules/askback/bin/askback":                                            true,
		"/home/ana/.npm/_npx/1f2e3d/node_modules/@askback/linux-x64/bin/askback":                                 true,
		"/home/ana/.cache/pnpm/dlx/b99b/1a22-45/node_modules/.pnpm/@askback+linux-x64@0.1.0/x/bin/askback":       true,
		"/home/ana/.local/share/pnpm/global/5/.pnpm/@askback+linux-x64@0.1.0/node_modules/@askback/bin/askback":  true,
		"/tmp/xfs-1a2b/dlx-77/node_modules/@askback/linux-x64/bin/askback":                                       true,
		"/tmp/bunx-1000-askback@latest/node_modules/@askback/linux-x64/bin/askback":                              true,
		"/srv/app/.yarn/unplugged/@askback-linux-x64-npm-0.1.0-1f2e/node_modules/@askback/linux-x64/bin/askback": true,
		"/nix/store/1f2e3d-askback-0.1.0/bin/askback":                                                            true,
		"/tmp/go-build123/b001/exe/askback":                                                                      true,
		"/usr/bin/askback":                                                                                       false,
		"/home/ana/.local/bin/askback":                                                                           false,
		"/usr/lib/node_modules/askback/bin/askback":                                                              false,
		"/srv/app/node_modules/@askback/linux-x64/bin/askback":                                                   false,
		"/home/ana/go/bin/askback":                                                                               false,
		"/home/ana/.local/state/askback/bin/askback":                                                             false,
	} {
		if got := agents.IsCached(path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}
