package egress

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// The rest of a reply is read for at most a second, because only the status matters.
func TestEndlessReplyIsClosedAfterASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, end := io.Pipe()
		defer end.Close()
		begun := time.Now()
		Discard(&http.Response{Body: body})
		if took := time.Since(begun); took != discardTime {
			t.Errorf("got %v, want %v", took, discardTime)
		}
		if _, err := end.Write([]byte("x")); err == nil {
			t.Error("the body is still open")
		}
	})
}
