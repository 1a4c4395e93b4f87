package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/wire/jcs"
	"github.com/askback/askback/store"
)

const (
	// looseDigest is the mutant that parses JSON leniently: it uses the last of duplicate
	// names, reads numbers as doubles, and replaces invalid UTF-8.
	looseDigest = "loose-digest"
	// joinedNames is the mutant whose digest has no separators between agent, server and tool.
	joinedNames = "joined-names"
)

func mutantDigest(mutant string) digestFunc {
	switch mutant {
	case looseDigest:
		return looseDigestOf
	case joinedNames:
		return joinedDigestOf
	}
	return productDigest
}

func looseDigestOf(names [3]string, args []byte) (string, error) {
	var v any
	if err := json.Unmarshal(args, &v); err != nil {
		return "", err
	}
	form, err := json.Marshal([]any{names, v})
	return sum(form), err
}

func joinedDigestOf(names [3]string, args []byte) (string, error) {
	form, err := jcs.Canonical(args)
	return sum(append([]byte(names[0]+names[1]+names[2]), form...)), err
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

const (
	// staleGrant is the mutant that overwrites a grant, even if the stored grant has changed since the read.
	staleGrant = "grant-without-version"
	// staleStep is the mutant that overwrites an ask, even if the stored ask has changed since the read.
	staleStep = "step-without-version"
)

func mutantRaceStore(mutant string, s engine.Store) engine.Store {
	switch mutant {
	case staleGrant:
		return &overwritingStore{Store: s, kind: "grant"}
	case staleStep:
		return &overwritingStore{Store: s, kind: kindAsk}
	}
	return s
}

// An overwritingStore writes records of one kind without comparing their version.
type overwritingStore struct {
	engine.Store
	kind string
}

func (b *overwritingStore) Commit(ctx context.Context, c store.Change) (int64, error) {
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
		if !b.changedAgain(ctx, put) {
			return first, err
		}
	}
}

// changedAgain reports whether a record of the kind has changed since its version was
// read.
func (b *overwritingStore) changedAgain(ctx context.Context, put []store.Record) bool {
	return slices.ContainsFunc(put, func(r store.Record) bool {
		now, err := b.Read(ctx, r.Kind, r.ID)
		return err == nil && r.Kind == b.kind && r.Version != 0 && now.Version != r.Version
	})
}
