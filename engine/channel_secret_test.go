package engine_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/askback/askback/store"
	"github.com/askback/askback/store/memstore"
)

// The secret of a channel is made once and stored encrypted. If the encryption key has changed, a new secret
// replaces the old secret.
func TestChannelSecretIsMadeOnce(t *testing.T) {
	db, ctx := memstore.New(), t.Context()
	first, err := reopen(db).ChannelSecret(ctx, "webpush")
	if err != nil || len(first) != 32 {
		t.Fatalf("got %d bytes, %v", len(first), err)
	}
	again, err := reopen(db).ChannelSecret(ctx, "webpush")
	if err != nil || !bytes.Equal(again, first) {
		t.Errorf("got %x, %v; want %x", again, err, first)
	}
	other, err := reopen(db).ChannelSecret(ctx, "another")
	if err != nil || bytes.Equal(other, first) {
		t.Errorf("got %x, %v for another channel", other, err)
	}
	row, err := db.Read(ctx, "channel_secret", "webpush")
	if err != nil || strings.Contains(string(row.State), base64.RawStdEncoding.EncodeToString(first)) {
		t.Errorf("got %s, %v; want it sealed", row.State, err)
	}
	defer func(old []byte) { sealKey = old }(sealKey)
	sealKey = []byte(strings.Repeat("x", 32))
	fresh, err := reopen(db).ChannelSecret(ctx, "webpush")
	if err != nil || bytes.Equal(fresh, first) {
		t.Errorf("with another key: got %x, %v; want a new secret", fresh, err)
	}
	if rows, err := db.List(ctx, store.Query{Kind: "channel_secret"}); err != nil || len(rows) != 2 {
		t.Errorf("got %d records, %v", len(rows), err)
	}
}
