//go:build !linux && !darwin

package doctor

// freeBytes returns false: free space cannot be measured on this system.
func freeBytes(string) (free int64, known bool) { return 0, false }
