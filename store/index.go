package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Document has the words of a record for the index.
type Document struct {
	Kind, ID string    // the kind and id of the record
	At       time.Time // documents are found newest first
	// Words has the words with single spaces in between. They consist of letters, digits and other characters
	// that are not ASCII, in lower case.
	Words string
}

// An IndexUpdate adds documents to the index: the documents for the events with a Seq after From and up to
// To. If the position of the index is not From, the update is a conflict. The new position is To.
//
// A document is ignored if its record does not exist, or if the index already has a document for the record.
type IndexUpdate struct {
	From, To int64
	Add      []Document
}

// Check returns an error if a document has no kind, id or time, or if its text is not UTF-8 or contains NUL.
func (u IndexUpdate) Check() error {
	return each("Add", u.Add, func(d *Document) error {
		if d.Kind == "" || d.ID == "" || d.At.UnixMilli() <= 0 {
			return errors.New("a document needs a kind, an id and a time")
		}
		return checkText(d.Kind, d.ID, d.Words)
	})
}

// A Phrase is a sequence of words that are adjacent in a document. If Prefix is set, the last word is the
// beginning of a word in the document. Words have only letters and digits.
type Phrase struct {
	Words  []string
	Prefix bool
}

// A Search selects documents that contain all phrases.
type Search struct {
	Phrases []Phrase  // at least one, each with at least one word
	AnyOf   []string  // if not empty, only documents with at least one word in this list
	After   string    // only documents after this document, in the order of the search
	Before  time.Time // if not zero, only documents with an earlier At, unless the index has the document After
	Limit   int       // maximum number of documents; 0 or more than MaxList means MaxList
}

// Check returns an error unless the search has a phrase and each phrase has a word. The text must be UTF-8
// without NUL.
func (s Search) Check() error {
	if len(s.Phrases) == 0 {
		return errors.New("invalid search: it needs a phrase")
	}
	for _, p := range s.Phrases {
		if len(p.Words) == 0 {
			return errors.New("invalid search: a phrase needs a word")
		}
		if err := checkText(p.Words...); err != nil {
			return fmt.Errorf("invalid search: %v", err)
		}
	}
	if err := checkText(s.AnyOf...); err != nil {
		return fmt.Errorf("invalid search: %v", err)
	}
	return nil
}

// An Index finds records by their words. The index is updated apart from commits: a caller reads the history
// after the position of the index and adds documents. So the newest records may be missing. If the data of
// the index is lost, the store begins again at position 0. [Change].Unindex removes documents.
type Index interface {
	// Indexed returns the position of the index: the Seq of the last event whose document
	// was added, or 0.
	Indexed(ctx context.Context) (seq int64, err error)
	// UpdateIndex applies the whole update, or returns an error such as ErrConflict and applies nothing.
	UpdateIndex(ctx context.Context, u IndexUpdate) error
	// Find returns the ids of the documents that a search selects, newest first. Documents with the same time
	// are in the order of their addition, the last one first.
	Find(ctx context.Context, s Search) (ids []string, err error)
}
