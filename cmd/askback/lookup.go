package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/safetext"
	"github.com/askback/askback/internal/view"
)

// latest stands for the newest ask that is open.
const latest = "latest"

// minShort is how many characters a shortened id has at least: an answer that was typed in
// the place of the id must not find one.
const minShort = 4

// maxPages is how many pages of asks are searched for a shortened id.
const maxPages = 50

var wholeID = regexp.MustCompile(`^[a-z]{3}_[0-9a-z]{26}$`)

// A lookup finds the ask that was meant by its id, by the beginning or the end of its id,
// or by "latest".
type lookup struct {
	client  askback.Client
	verb    string // what the caller wants to do with it
	decides bool   // what it wants is a decision: see [lookup.find]
}

// isLatest reports whether typed stands for the newest ask.
func isLatest(typed string) bool { return strings.EqualFold(strings.TrimSpace(typed), latest) }

// find returns the whole id. An id that is whole is returned as it is.
//
// Where more than one ask can be meant, an open one is preferred, but not for a decision:
// ids begin with the time, so an agent that withdraws what a person has seen and at once
// asks something else would have the same beginning decide about that. The end of an id is
// left to chance.
func (l lookup) find(ctx context.Context, typed string) (string, error) {
	typed = strings.ToLower(strings.TrimSpace(typed))
	if wholeID.MatchString(typed) {
		return typed, nil
	}
	if isLatest(typed) {
		return l.newest(ctx)
	}
	if err := longEnough(typed, "ask_"); err != nil {
		return "", err
	}
	for _, status := range []askback.Status{askback.Pending, askback.AnyStatus} {
		var found []askback.Ask
		err := l.each(ctx, status, func(a askback.Ask) {
			if shortens(typed, a.ID) {
				found = append(found, a)
			}
		})
		switch {
		case err != nil:
			return "", err
		case len(found) == 1 && l.decides && status == askback.Pending && !endsWith(found[0].ID, typed):
			// It counts if it is the only one of all asks.
		case len(found) == 1:
			return found[0].ID, nil
		case len(found) > 1:
			return "", ambiguous(typed, found)
		}
	}
	return "", l.missing(typed)
}

// get returns the ask itself.
func (l lookup) get(ctx context.Context, typed string) (askback.Ask, error) {
	id, err := l.find(ctx, typed)
	if err != nil {
		return askback.Ask{}, err
	}
	ask, err := l.client.Get(ctx, id)
	return ask, l.explain(err, typed)
}

// newest returns the ask that was opened last and is still open.
func (l lookup) newest(ctx context.Context) (id string, err error) {
	err = l.each(ctx, askback.Pending, func(a askback.Ask) { id = a.ID })
	if err == nil && id == "" {
		err = ended{exitRefused, "no question is open that you may " + l.verb}
	}
	return id, err
}

// each calls do with the asks of a status.
func (l lookup) each(ctx context.Context, status askback.Status, do func(askback.Ask)) error {
	q := askback.Query{Status: status, Limit: askback.MaxLimit}
	for range maxPages {
		page, err := l.client.List(ctx, q)
		if err != nil {
			return err
		}
		for _, a := range page.Items {
			do(a)
		}
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return nil
		}
	}
	return ended{exitRefused, "there are too many asks to search them all: give the whole id"}
}

// missing is the error for an id that names no ask.
func (l lookup) missing(typed string) error {
	return ended{exitRefused, fmt.Sprintf("no ask %s that you may %s; askback list shows the open ones", typed, l.verb)}
}

// explain turns the error of a call with an id into one that names what is missing.
func (l lookup) explain(err error, typed string) error {
	if errors.Is(err, askback.ErrNotFound) {
		return l.missing(typed)
	}
	return err
}

func longEnough(typed, prefix string) error {
	if len(strings.TrimPrefix(typed, prefix)) < minShort {
		return usage(fmt.Sprintf("%q is too short for an id: write at least %d characters of it", typed, minShort))
	}
	return nil
}

// shortens reports whether typed is the beginning or the end of an id, with its prefix or
// without.
func shortens(typed, id string) bool {
	_, number, _ := strings.Cut(id, "_")
	return strings.HasPrefix(id, typed) || strings.HasPrefix(number, typed) || strings.HasSuffix(number, typed)
}

// minEnd is how many characters of the end of an id tell it from all that an agent can make
// in a lifetime of trying: as many as a list shows.
const minEnd = 6

// endsWith reports whether typed is an end of an id that is long enough for a decision.
func endsWith(id, typed string) bool {
	_, number, _ := strings.Cut(id, "_")
	return len(typed) >= minEnd && len(typed) <= randomPart && strings.HasSuffix(number, typed)
}

// randomPart is how many characters at the end of an id are random.
const randomPart = 16

// only returns the one id that was shortened to typed. What the ids are of is for the error.
func only(typed, prefix, noun string, ids []string) (string, error) {
	typed = strings.ToLower(strings.TrimSpace(typed))
	if wholeID.MatchString(typed) {
		return typed, nil
	}
	if err := longEnough(typed, prefix); err != nil {
		return "", err
	}
	var found []string
	for _, id := range ids {
		if shortens(typed, id) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", ended{exitRefused, fmt.Sprintf("there is no %s %s that is yours to end", noun, typed)}
	case 1:
		return found[0], nil
	}
	return "", usage(fmt.Sprintf("%s can mean %d %ss; write more of the id", typed, len(found), noun))
}

// maxCandidates is how many asks an error lists.
const maxCandidates = 5

func ambiguous(typed string, found []askback.Ask) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s can mean %d asks; write more of the id:", typed, len(found))
	for i, a := range found {
		if i == maxCandidates {
			b.WriteString("\n  …")
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s", safetext.Line(a.ID), fit(view.Of(a).Headline(), 60))
	}
	return usage(b.String())
}

// shortIDs returns the ends of the ids, as long as it takes to tell them apart.
func shortIDs(asks []askback.Ask) []string {
	for n := minEnd; ; n++ {
		seen := map[string]bool{}
		var all []string
		for _, a := range asks {
			id := safetext.Line(a.ID).String()
			end := id[max(0, len(id)-n):]
			seen[end] = true
			all = append(all, end)
		}
		if len(seen) == len(asks) || n >= len("ask_")+26 {
			return all
		}
	}
}
