// Package program builds askback for tests that run it.
package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Variable is the environment variable with the path of the program, if it is built already. The
// scripts build it once for all packages.
const Variable = "ASKBACK_TEST_PROGRAM"

// Build returns the path of askback. If [Variable] is not set, it builds askback in the folder dir.
func Build(ctx context.Context, dir string) (string, error) {
	if path := os.Getenv(Variable); path != "" {
		return path, nil
	}
	path := filepath.Join(dir, "askback")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", path,
		"github.com/askback/askback/cmd/askback").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build askback: %w\n%s", err, out)
	}
	return path, nil
}
