package engine

import (
	"encoding/json"
	"strings"

	"github.com/askback/askback/engine/internal/people"
	"github.com/askback/askback/engine/internal/send"
	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/store"
)

// OpenSecrets returns the number of encrypted secrets in r, if r is the record of an endpoint or a contact,
// and otherwise 0. The error is not nil if the key does not decrypt a secret, or if r cannot be decoded.
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
