package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/askback/askback/store"
)

// document returns a document for the record with this id. Its time is ms milliseconds after noon.
func document(id string, ms int, words string) store.Document {
	return store.Document{Kind: "ask", ID: id, At: noon.Add(time.Duration(ms) * time.Millisecond), Words: words}
}

// index commits a record for each document and adds the documents to the index.
func index(t *testing.T, s Store, documents ...store.Document) {
	t.Helper()
	var c store.Change
	for _, d := range documents {
		c.Put = append(c.Put, record(d.Kind, d.ID))
	}
	mustCommit(t, s, c)
	update(t, s, documents...)
}

// update adds documents to the index, and moves the position of the index by one.
func update(t *testing.T, s Store, documents ...store.Document) {
	t.Helper()
	seq := mustIndexed(t, s)
	if err := s.UpdateIndex(t.Context(), store.IndexUpdate{From: seq, To: seq + 1, Add: documents}); err != nil {
		t.Fatalf("UpdateIndex: got %v, want no error", err)
	}
}

func mustIndexed(t *testing.T, s Store) int64 {
	t.Helper()
	seq, err := s.Indexed(t.Context())
	if err != nil {
		t.Fatalf("Indexed: got %v, want no error", err)
	}
	return seq
}

// phrases returns the phrases in text, which are separated by commas. If a phrase ends with an asterisk, its
// last word is a prefix.
func phrases(text string) (all []store.Phrase) {
	for one := range strings.SplitSeq(text, ",") {
		words, isPrefix := strings.CutSuffix(one, "*")
		all = append(all, store.Phrase{Words: strings.Fields(words), Prefix: isPrefix})
	}
	return all
}

func mustFind(t *testing.T, s Store, q store.Search) string {
	t.Helper()
	ids, err := s.Find(t.Context(), q)
	if err != nil {
		t.Fatalf("Find %+v: got %v, want no error", q, err)
	}
	return strings.Join(ids, " ")
}

// testFind checks which documents a search selects, and their order.
func testFind(t *testing.T, sub Subject) {
	s := sub.Store
	index(
		t, s,
		document("ask_3", 3, "drop the table orders in prod "),
		document("ask_1", 1, "which table should we use"),
		document("ask_2", 2, "orders table drop and near not"),
		document("ask_4", 4, "ärger in город 数 据 库 and 42"),
		document("ask_5", 5, ""),
	)
	for text, want := range map[string]string{
		"table":          "ask_3 ask_2 ask_1",
		"drop,table":     "ask_3 ask_2",
		"drop the table": "ask_3",
		"table drop":     "ask_2",
		"tab":            "",
		"tab*":           "ask_3 ask_2 ask_1",
		"the ta*":        "ask_3",
		"use*":           "ask_1",
		"use orders*":    "",
		"and,near,not":   "ask_2",
		"not":            "ask_2",
		"or":             "",
		"or*":            "ask_3 ask_2",
		"город":          "ask_4",
		"горо*,4*":       "ask_4",
		"数 据":            "ask_4",
		"据 数":            "",
		"ärger,table":    "",
		"words":          "",
		"arger":          "",
	} {
		mustEqual(t, text, mustFind(t, s, store.Search{Phrases: phrases(text)}), want)
	}
	for anyOf, want := range map[string]string{
		"which": "ask_1", "which prod": "ask_3 ask_1", "город": "", "tab": "", "nothing": "",
	} {
		mustEqual(t, "any of "+anyOf,
			mustFind(t, s, store.Search{Phrases: phrases("table"), AnyOf: strings.Fields(anyOf)}), want)
	}
	two := store.Search{Phrases: phrases("table,orders*"), AnyOf: []string{"which", "near"}}
	mustEqual(t, "any of two words, with two phrases", mustFind(t, s, two), "ask_2")
	index(t, s, document("ask_6", 6, "§o1 §p table"))
	mustEqual(t, "a word of a sign",
		mustFind(t, s, store.Search{Phrases: phrases("table"), AnyOf: []string{"§o1", "§o2"}}), "ask_6")
	mustEqual(t, "a sign alone",
		mustFind(t, s, store.Search{Phrases: phrases("table"), AnyOf: []string{"§o", "o1", "p"}}), "")
	odd := store.Search{Phrases: []store.Phrase{{Words: []string{`a" OR "table`}}}}
	mustEqual(t, "a word with quotes", mustFind(t, s, odd), "")
	for name, q := range map[string]store.Search{
		"no phrase": {}, "no word": {Phrases: []store.Phrase{{}}}, "NUL": {Phrases: phrases("a\x00b")},
	} {
		if ids, err := s.Find(t.Context(), q); err == nil {
			t.Errorf("Find with %s: got %q and no error", name, ids)
		}
	}
}

// testFindPages checks that the pages of a search have every document once, even if several documents have
// the same time.
func testFindPages(t *testing.T, sub Subject) {
	s := sub.Store
	var all []store.Document
	for n := range 30 {
		all = append(all, document(fmt.Sprintf("ask_%02d", n), n/7, "word"))
	}
	index(t, s, all...)
	var got []string
	q := store.Search{Phrases: phrases("wor*"), Limit: 4}
	for {
		ids, err := s.Find(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(ids) == 0 {
			break
		}
		got = append(got, ids...)
		q.After = ids[len(ids)-1]
	}
	var want []string
	for n := 29; n >= 0; n-- {
		want = append(want, all[n].ID)
	}
	mustEqual(t, "all pages", got, want)
	q.After, q.Before = "", noon.Add(time.Millisecond)
	mustEqual(t, "before a time", mustFind(t, s, q), "ask_06 ask_05 ask_04 ask_03")
	q.After = "ask_00000"
	mustEqual(t, "after a document that is not in the index", mustFind(t, s, q), "ask_06 ask_05 ask_04 ask_03")
	q.After = "ask_20"
	mustEqual(t, "after a document", mustFind(t, s, q), "ask_19 ask_18 ask_17 ask_16")
}

// testIndexPosition checks that an update requires the position of the index. Documents are ignored if their
// record does not exist or already has a document.
func testIndexPosition(t *testing.T, sub Subject) {
	s := sub.Store
	mustEqual(t, "the position of a new index", mustIndexed(t, s), int64(0))
	index(t, s, document("ask_1", 1, "one"))
	two := document("ask_2", 2, "two")
	mustCommit(t, s, put(record("ask", "ask_2")))
	for _, from := range []int64{0, 2} {
		err := s.UpdateIndex(t.Context(), store.IndexUpdate{From: from, To: 3, Add: []store.Document{two}})
		if !errors.Is(err, store.ErrConflict) {
			t.Fatalf("UpdateIndex from %d: got %v, want ErrConflict", from, err)
		}
	}
	mustEqual(t, "the position after a conflict", mustIndexed(t, s), int64(1))
	mustEqual(t, "a document of a conflict", mustFind(t, s, store.Search{Phrases: phrases("two")}), "")
	update(t, s, document("ask_1", 1, "again"), two, document("ask_9", 9, "nine"))
	mustEqual(t, "the position after an update", mustIndexed(t, s), int64(2))
	for words, want := range map[string]string{"one": "ask_1", "again": "", "two": "ask_2", "nine": ""} {
		mustEqual(t, words, mustFind(t, s, store.Search{Phrases: phrases(words)}), want)
	}
	if err := s.UpdateIndex(t.Context(),
		store.IndexUpdate{From: 2, To: 3, Add: []store.Document{{ID: "ask_3"}}}); err == nil {
		t.Error("a document without a kind: got no error")
	}
}

// testUnindex checks that a change removes documents from the index. The other documents must remain, even
// after a kill.
func testUnindex(t *testing.T, sub Subject) {
	s := sub.Store
	index(t, s, document("ask_1", 1, "table one"), document("ask_2", 2, "table two"),
		document("ask_3", 2, "table three"))
	one := committed(record("ask", "ask_1"))
	mustCommit(t, s, store.Change{Delete: []store.Ref{ref(one)}, Unindex: []string{"ask_1", "ask_8"}})
	wrong := ref(committed(record("ask", "ask_2")))
	wrong.Version++
	mustConflict(t, s, store.Change{Delete: []store.Ref{wrong}, Unindex: []string{"ask_2"}})
	find := store.Search{Phrases: phrases("ta*")}
	mustEqual(t, "after the deletion", mustFind(t, s, find), "ask_3 ask_2")
	if sub.Reopen != nil {
		s = sub.Reopen(t, false)
		mustEqual(t, "after a kill", mustFind(t, s, find), "ask_3 ask_2")
		mustEqual(t, "the position after a kill", mustIndexed(t, s), int64(1))
	}
}
