package send

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/askback/askback/engine/internal/txn"
	"github.com/askback/askback/store"
)

// kindChannelSecret is the kind of the records of secrets of channels. They have no state
// machine and are never deleted. The id is the name of the channel.
const kindChannelSecret = "channel_secret"

// channelSecretSize is the size of a secret of a channel in bytes.
const channelSecretSize = 32

type channelSecretState struct {
	Secret string `json:"secret"` // sealed
}

// ChannelSecret returns random bytes that stay the same for a channel, such as a key that the service of the
// channel knows. The first call makes the bytes. If they can no longer be decrypted, because the key of the
// state directory has changed, ChannelSecret makes new bytes.
func (e *Service) ChannelSecret(ctx context.Context, channel string) (secret []byte, err error) {
	err = e.Update(ctx, func(t *txn.Tx) error {
		if err := t.Lock(kindChannelSecret + " " + channel); err != nil {
			return err
		}
		row, err := e.Store.Read(t.Context(), kindChannelSecret, channel)
		switch {
		case errors.Is(err, store.ErrNotFound):
			row = store.Record{Kind: kindChannelSecret, ID: channel, Created: t.Now(), Fixed: []byte(`{"v":1}`)}
		case err != nil:
			return err
		default:
			row.Fixed = nil
			secret, err = e.openChannelSecret(row)
			if err == nil || !errors.Is(err, txn.ErrSealed) {
				return err
			}
			e.Log.Error("the secret of a channel cannot be decrypted, so it gets a new one", "channel", channel)
		}
		secret = make([]byte, channelSecretSize)
		if _, err := io.ReadFull(e.Rand, secret); err != nil {
			return err
		}
		sealed, err := e.Sealer.Seal(base64.RawStdEncoding.EncodeToString(secret), channel)
		if err != nil {
			return err
		}
		row.State, err = json.Marshal(channelSecretState{sealed})
		row.Updated = t.Now()
		t.Put(row)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the secret of channel %s: %w", channel, err)
	}
	return secret, nil
}

func (e *Service) openChannelSecret(row store.Record) ([]byte, error) {
	var s channelSecretState
	if _, err := txn.Readable(s, json.Unmarshal(row.State, &s)); err != nil {
		return nil, err
	}
	encoded, err := e.Sealer.Open(s.Secret, row.ID)
	if err != nil {
		return nil, err
	}
	return base64.RawStdEncoding.DecodeString(encoded)
}
