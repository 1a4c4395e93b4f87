package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/askback/askback"
)

// asWritten marks the problems of an ask that a person wrote as JSON: their pointers lead
// into that file. All others came from flags.
type asWritten struct{ error }

func (w asWritten) Unwrap() error { return w.error }

// written marks an error if the ask came from a file.
func written(err error, file bool) error {
	if err == nil || !file {
		return err
	}
	return asWritten{err}
}

// places are what was typed for a pointer: a flag, or words. $1 stands for its number.
var places = []struct {
	pointer *regexp.Regexp
	typed   string
}{
	{regexp.MustCompile(`^/questions/0/options/(\d+)/description$`), "--description $1"},
	{regexp.MustCompile(`^/questions/0/options/(\d+)(/label)?$`), "option $1"},
	{regexp.MustCompile(`^/questions/0/options$`), "options"},
	{regexp.MustCompile(`^/questions/0/header$`), "--header"},
	{regexp.MustCompile(`^/questions/0/default(/\d+)?$`), "--default"},
	{regexp.MustCompile(`^/questions/0/allow_custom$`), "--no-other"},
	{regexp.MustCompile(`^/questions/0(/question)?$`), "the question"},
	{regexp.MustCompile(`^/confirmation/(description|input/action|input)$`), "the action"},
	{regexp.MustCompile(`^/confirmation/(context|input/details)$`), "--details"},
	{regexp.MustCompile(`^/to(/\d+)?$`), "--to"},
	{regexp.MustCompile(`^/session_key$`), "--session"},
	{regexp.MustCompile(`^/on_timeout$`), "--on-timeout"},
	{regexp.MustCompile(`^/deadline$`), "--timeout"},
	{regexp.MustCompile(`^/grant/scope$`), "--scope"},
	{regexp.MustCompile(`^/grant/expires_in$`), "--expires"},
	{regexp.MustCompile(`^/expires_in$`), "--expires"},
	{regexp.MustCompile(`^/answers/(\d+)/notes$`), "--notes"},
	{regexp.MustCompile(`^/answers/(\d+)/other$`), "--other"},
	{regexp.MustCompile(`^/answers(/\d+)?(/selected)?$`), "the answer"},
	{regexp.MustCompile(`^[/?](header|context|agent|key|timeout|reason|comment|limit|cursor|status|name|kind|input)$`), "--$1"},
	{regexp.MustCompile(`^/input(/.*)$`), "--input, at $1"},
}

// typedFor returns what was typed for a pointer; the pointer itself if that is not known.
func typedFor(pointer string) string {
	for _, p := range places {
		m := p.pointer.FindStringSubmatch(pointer)
		if m == nil {
			continue
		}
		number := ""
		if len(m) > 1 {
			number = m[1]
			if n, err := strconv.Atoi(m[1]); err == nil {
				number = strconv.Itoa(n + 1) // people count from 1
			}
		}
		return strings.ReplaceAll(p.typed, "$1", number)
	}
	return strings.TrimPrefix(pointer, "/")
}

// mistake is one problem in the words of the command line. What JSON would be right is left
// out.
func mistake(p askback.Problem) string {
	words := p.Detail
	if p.Fix != "" && !strings.ContainsAny(p.Fix, `"{=_`) {
		words += "; " + p.Fix
	}
	switch {
	case p.Pointer == "":
		return words
	case strings.HasPrefix(words, "is "):
		return typedFor(p.Pointer) + " " + words
	}
	return typedFor(p.Pointer) + ": " + words
}

// mistakes are the lines for input that breaks the rules.
func mistakes(err error, invalid askback.Invalid) (lines []string) {
	var file asWritten
	inFile := errors.As(err, &file)
	for _, p := range invalid {
		if inFile {
			lines = append(lines, askback.Invalid{p}.Error())
		} else {
			lines = append(lines, mistake(p))
		}
	}
	return lines
}

// route is how an error of the HTTP client begins.
var route = regexp.MustCompile(`(GET|POST|PUT|DELETE) /[^\s:]*: `)

// withoutRoute returns the message of an error without the route that was called: the user
// typed a command.
func withoutRoute(err error) string { return route.ReplaceAllString(err.Error(), "") }

// checkOptions finds what is wrong with options before they are part of a question.
func checkOptions(options []string) error {
	if len(options) == 1 {
		return usage(fmt.Sprintf("there is one option, %q: give at least two options, or none for a free text answer", options[0]))
	}
	seen := map[string]bool{}
	for _, o := range options {
		if o = strings.TrimSpace(o); seen[o] {
			return usage(fmt.Sprintf("the option %q is given twice: give each option its own label", o))
		}
		seen[o] = true
	}
	return nil
}
