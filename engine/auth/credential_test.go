package auth

import (
	"strings"
	"testing"
	"time"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// The browser of a log-in is stored. A log-in that an earlier release stored is read, without its browser.
func TestStoredLoginHasItsBrowser(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000).UTC()
	one := credential{Token: askback.Token{
		ID: "tok_1", Kind: askback.Responder, Name: "ana", Channel: askback.ChannelWeb, CreatedAt: at,
		Browser: askback.Browser{Name: "Firefox on Linux", Address: "203.0.113.7"},
	}}
	row, err := encode(KindToken, one, "secret")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decode(row); err != nil || got != one {
		t.Errorf("got %+v, %v; want %+v", got, err, one)
	}
	old := store.Record{
		Kind: KindToken, ID: "tok_1", State: []byte(`{"v":1}`),
		Fixed: []byte(`{"v":1,"kind":"responder","name":"ana","via":"web","created":1700000000000}`),
	}
	got, err := decode(old)
	one.Browser = askback.Browser{}
	if err != nil || got != one {
		t.Errorf("an earlier release: got %+v, %v; want %+v", got, err, one)
	}
	row, err = encode(KindToken, one, "secret")
	if err != nil || strings.Contains(string(row.Fixed), "browser") {
		t.Errorf("got %s, %v; want no browser", row.Fixed, err)
	}
}
