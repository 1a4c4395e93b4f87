package txn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/askback/askback"
	"github.com/askback/askback/store"
)

// ErrUnreadable is returned for a record that this release cannot decode.
var ErrUnreadable = errors.New("this record cannot be read")

// Readable returns its arguments. An error that is not nil also matches ErrUnreadable.
func Readable[S any](state S, err error) (S, error) {
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return state, err
}

// maxErrorText is the maximum length in bytes of the text of an error that is stored.
const maxErrorText = 500

// ErrorText returns the stored form of the text of an error of a channel or a performer, truncated to
// maxErrorText bytes. It is valid UTF-8 without control characters: no store accepts a NUL, so the failed
// attempt would never be recorded.
func ErrorText(err error) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(err.Error(), "\uFFFD"))
	if len(text) <= maxErrorText {
		return text
	}
	return strings.ToValidUTF8(text[:maxErrorText-len("…")], "") + "…"
}

// FromStore translates the errors of a store into errors of package askback.
func FromStore(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return askback.ErrNotFound
	case errors.Is(err, store.ErrFull):
		return askback.ErrFull
	case errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrFailed):
		return askback.ErrStopping // after a failed write, the store has failed and the process ends
	case errors.Is(err, store.ErrDiskFull):
		return askback.ErrDiskFull
	case errors.Is(err, store.ErrUnknown):
		return fmt.Errorf("%w: %v", askback.ErrUnknown, err)
	case errors.Is(err, store.ErrConflict):
		return askback.ErrBusy
	}
	var damaged store.DamagedError
	if errors.As(err, &damaged) {
		return askback.DamagedError{ID: damaged.ID}
	}
	return err
}

// timeoutCause returns the cause of ctx if err is the error of ctx, and err otherwise. So
// an update that has taken too long returns [askback.ErrBusy].
func timeoutCause(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}
