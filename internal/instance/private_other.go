//go:build !unix

package instance

import "os"

// readPrivate reads a file. It does not check the owner, because no process can open a
// database on this system.
func readPrivate(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}
