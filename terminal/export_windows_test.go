package terminal

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// PressKeys writes keys to the console of this process, as if a person typed text. If read is true, it returns when a
// read has taken the last key.
func PressKeys(t *testing.T, text string, read bool) {
	t.Helper()
	file, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	console := windows.Handle(file.Fd())
	for _, char := range text {
		press := keyPress{char: uint16(char)}
		if char == '\r' {
			press.key = windows.VK_RETURN
		}
		if err := pressKeys(console, press); err != nil {
			t.Fatal(err)
		}
	}
	limit := time.After(10 * time.Second)
	for read {
		var events uint32
		if err := windows.GetNumberOfConsoleInputEvents(console, &events); err != nil {
			t.Fatal(err)
		}
		if events <= 1 { // the release of the last key
			return
		}
		select {
		case <-limit:
			t.Fatalf("%d keys of %q were not read", events, text)
		case <-time.After(time.Millisecond):
		}
	}
}
