package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/jcs"
	"github.com/askback/askback/store"
)

const (
	// looseDigest is the planted fault of a reader that takes what others read
	// otherwise: the last of two names, numbers as doubles, bad UTF-8 mended.
	looseDigest = "loose-digest"
	// joinedNames is the planted fault of a digest in which agent, server and tool
	// have no borders.
	joinedNames = "joined-names"
)

func plantedDigest(plant string) digester {
	switch plant {
	case looseDigest:
		return looselyDigested
	case joinedNames:
		return joinedDigested
	}
	return ownDigest
}

func looselyDigested(names [3]string, args []byte) (string, error) {
	var v any
	if err := json.Unmarshal(args, &v); err != nil {
		return "", err
	}
	form, err := json.Marshal([]any{names, v})
	return sum(form), err
}

func joinedDigested(names [3]string, args []byte) (string, error) {
	form, err := jcs.Canonical(args)
	return sum(append([]byte(names[0]+names[1]+names[2]), form...)), err
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

const (
	// staleGrant is the planted fault of a grant that is put as it was read, though
	// somebody changed it meanwhile.
	staleGrant = "grant-without-version"
	// staleStep is the same fault of an ask.
	staleStep = "step-without-version"
)

func plantedRaces(plant string, s engine.Store) engine.Store {
	switch plant {
	case staleGrant:
		return &blind{Store: s, kind: "grant"}
	case staleStep:
		return &blind{Store: s, kind: kindAsk}
	}
	return s
}

// blind writes records of one kind over whatever is there.
type blind struct {
	engine.Store
	kind string
}

func (b *blind) Commit(ctx context.Context, c store.Change) (int64, error) {
	put := slices.Clone(c.Put)
	for {
		for i, r := range put {
			if r.Kind != b.kind || r.Version == 0 {
				continue
			}
			if now, err := b.Read(ctx, r.Kind, r.ID); err == nil {
				put[i].Version = now.Version
			}
		}
		c.Put = put
		first, err := b.Store.Commit(ctx, c)
		if !errors.Is(err, store.ErrConflict) {
			return first, err
		}
		if !b.overtaken(ctx, put) {
			return first, err
		}
	}
}

// overtaken says that a record was changed once more between reading and writing.
func (b *blind) overtaken(ctx context.Context, put []store.Record) bool {
	return slices.ContainsFunc(put, func(r store.Record) bool {
		now, err := b.Read(ctx, r.Kind, r.ID)
		return err == nil && r.Kind == b.kind && r.Version != 0 && now.Version != r.Version
	})
}
