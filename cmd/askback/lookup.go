package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/askback/askback"
	"github.com/askback/askback/internal/text/safetext"
	"github.com/askback/askback/internal/text/view"
)

// latest can be given instead of an id. It means the newest open ask.
const latest = "latest"

// minShort is the minimum length of a shortened id. Shorter text was probably typed as an
// answer, in place of the id.
const minShort = 4

// maxPages is the maximum number of pages of asks that are searched for an id.
const maxPages = 50

var wholeID = regexp.MustCompile(`^[a-z]{3}_[0-9a-z]{26}$`)

// A lookup finds an ask by its id, by the beginning or end of its id, or by "latest".
type lookup struct {
	client  askback.Asks
	verb    string // what the command does with the ask, for error messages
	decides bool   // the command settles the ask; see [lookup.find]
}

// isLatest reports whether typed is "latest", in any case of letters.
func isLatest(typed string) bool { return strings.EqualFold(strings.TrimSpace(typed), latest) }

// find returns the complete id of the ask that typed identifies. It does not check whether a complete id
// exists.
//
// If several asks match, find prefers the open ask. For decisions it does so only if typed matches the random
// end of the id, because ids begin with the time. An agent could withdraw an ask that a person has seen, and
// immediately create another ask whose id has the same beginning.
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
			// The match is accepted below if no other ask matches.
		case len(found) == 1:
			return found[0].ID, nil
		case len(found) > 1:
			return "", ambiguous(typed, found)
		}
	}
	return "", l.missing(typed)
}

// get is like find but returns the ask.
func (l lookup) get(ctx context.Context, typed string) (askback.Ask, error) {
	id, err := l.find(ctx, typed)
	if err != nil {
		return askback.Ask{}, err
	}
	ask, err := l.client.Get(ctx, id)
	return ask, l.explain(err, typed)
}

// newest returns the id of the newest open ask, or an error if no ask is open.
func (l lookup) newest(ctx context.Context) (id string, err error) {
	err = l.each(ctx, askback.Pending, func(a askback.Ask) { id = a.ID })
	if err == nil && id == "" {
		err = exitError{exitRefused, "there is no open ask that you may " + l.verb}
	}
	return id, err
}

// each calls do for every ask with a status. It returns an error if there are more than
// maxPages pages.
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
	return exitError{exitRefused, "there are too many asks to search: give the complete id"}
}

// missing returns the error for an id that matches no ask.
func (l lookup) missing(typed string) error {
	return exitError{
		exitRefused, fmt.Sprintf("there is no ask %s that you may %s; askback list shows the open asks", typed, l.verb),
	}
}

// explain replaces a not-found error with an error that names the ask. It returns other errors unchanged.
func (l lookup) explain(err error, typed string) error {
	if errors.Is(err, askback.ErrNotFound) {
		return l.missing(typed)
	}
	return err
}

func longEnough(typed, prefix string) error {
	if len(strings.TrimPrefix(typed, prefix)) < minShort {
		of := ""
		if strings.HasPrefix(typed, prefix) {
			of = " after " + prefix
		}
		return usage(fmt.Sprintf("%q is too short for an id: give at least %d characters%s", typed, minShort, of))
	}
	return nil
}

// shortens reports whether typed is the beginning or end of an id. A prefix such as ask_
// can be left out.
func shortens(typed, id string) bool {
	_, number, _ := strings.Cut(id, "_")
	return strings.HasPrefix(id, typed) || strings.HasPrefix(number, typed) || strings.HasSuffix(number, typed)
}

// minEnd is the minimum length of the end of an id, in lists and for decisions. In
// practice, an agent cannot create another id with the same six random characters.
const minEnd = 6

// endsWith reports whether id ends with typed. typed must be long enough for a decision, and not longer than
// the random part of the id.
func endsWith(id, typed string) bool {
	_, number, _ := strings.Cut(id, "_")
	return len(typed) >= minEnd && len(typed) <= randomPart && strings.HasSuffix(number, typed)
}

// randomPart is how many characters at the end of an id are random.
const randomPart = 16

// An idKind is a kind of ids that a command accepts, with the words for its errors.
type idKind struct {
	prefix string // of the ids
	noun   string
	verb   string // what the command does
	list   string // the command that lists the ids
}

// missing returns the error for an id that does not exist, or whose item the user may not change.
func (k idKind) missing(id string) error {
	return exitError{
		exitRefused, fmt.Sprintf("there is no %s %s that you may %s; %s shows the ids", k.noun, id, k.verb, k.list),
	}
}

// find returns the only listed id that typed shortens, or typed itself if it is a complete id.
func (k idKind) find(typed string, list func() ([]string, error)) (string, error) {
	typed = strings.ToLower(strings.TrimSpace(typed))
	if wholeID.MatchString(typed) {
		return typed, nil
	}
	if err := longEnough(typed, k.prefix); err != nil {
		return "", err
	}
	ids, err := list()
	if err != nil {
		return "", err
	}
	found := slices.DeleteFunc(ids, func(id string) bool { return !shortens(typed, id) })
	switch len(found) {
	case 0:
		return "", k.missing(typed)
	case 1:
		return found[0], nil
	}
	return "", usage(fmt.Sprintf("%s matches %d %ss; give more of the id", typed, len(found), k.noun))
}

// maxCandidates is the maximum number of matching asks that an error lists.
const maxCandidates = 5

func ambiguous(typed string, found []askback.Ask) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s matches %d asks; give more of the id:", typed, len(found))
	for i, a := range found {
		if i == maxCandidates {
			b.WriteString("\n  …")
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s", safetext.Line(a.ID), safetext.Fit(view.Of(a).Line(), 60))
	}
	return usage(b.String())
}

// shortIDs returns the ends of the ids. All ends have the same length, and are long enough to be different.
func shortIDs(whole []string) []string {
	for n := minEnd; ; n++ {
		seen := map[string]bool{}
		var all []string
		for _, id := range whole {
			id = safetext.Line(id).String()
			end := id[max(0, len(id)-n):]
			seen[end] = true
			all = append(all, end)
		}
		if len(seen) == len(whole) || n >= len("ask_")+26 {
			return all
		}
	}
}
