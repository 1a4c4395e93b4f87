package engine

import (
	"encoding/json"
	"strings"

	"github.com/askback/askback/engine/internal/people"
	"github.com/askback/askback/engine/internal/send"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/store"
)

// OpenSecrets returns the number of encrypted secrets of endpoints and contacts in the store, and an error if
// the key does not decrypt them.
func OpenSecrets(key []byte, r store.Record) (n int, err error) {
	var stored []string
	switch r.Kind {
	case send.KindEndpoint:
		s, err := send.DecodeEndpoint(r)
		if err != nil {
			return 0, err
		}
		stored = []string{s.Secret, s.OldSecret}
	case people.KindContact:
		var s people.ContactState
		if err := json.Unmarshal(r.State, &s); err != nil {
			return 0, err
		}
		stored = []string{s.Address}
	}
	opener := txn.Sealer{Key: func() ([]byte, error) { return key, nil }}
	for _, text := range stored {
		if !strings.HasPrefix(text, txn.SealedSecret) {
			continue
		}
		n++
		if _, openErr := opener.Open(text, r.ID); openErr != nil {
			err = openErr
		}
	}
	return n, err
}
