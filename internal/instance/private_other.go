//go:build !unix

package instance

import "os"

// readPrivate reads a file. It checks no owner: on this system no process can hold a database.
func readPrivate(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}
