package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/askback/askback"
)

// A fileError is an error in an ask from a JSON file. The JSON pointers of a fileError are printed unchanged;
// other pointers are printed as flags or arguments.
type fileError struct{ error }

func (e fileError) Unwrap() error { return e.error }

// inFile returns err as a [fileError] if the ask came from a file.
func inFile(err error, file bool) error {
	if err == nil || !file {
		return err
	}
	return fileError{err}
}

// arguments are the flags and arguments for JSON pointers. $1 is the first group of the
// pattern. If it is a number, 1 is added, because users count from 1.
var arguments = []struct {
	pointer  *regexp.Regexp
	argument string
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
	{regexp.MustCompile(`^/people(/\d+)?$`), "the people"},
	{regexp.MustCompile(`^/time_zone$`), "--time-zone"},
	{regexp.MustCompile(`^/channel$`), "the channel"},
	{regexp.MustCompile(`^/session_key$`), "--session"},
	{regexp.MustCompile(`^/tags(/\d+)?$`), "--tag"},
	{regexp.MustCompile(`^/on_timeout$`), "--on-timeout"},
	{regexp.MustCompile(`^/deadline$`), "--timeout"},
	{regexp.MustCompile(`^/grant/scope$`), "--scope"},
	{regexp.MustCompile(`^/grant/expires_in$`), "--expires"},
	{regexp.MustCompile(`^/expires_in$`), "--expires"},
	{regexp.MustCompile(`^/answers/(\d+)/notes$`), "--notes"},
	{regexp.MustCompile(`^/answers/(\d+)/other$`), "--other"},
	{regexp.MustCompile(`^/answers(/\d+)?(/selected)?$`), "the answer"},
	{regexp.MustCompile(`^[/?](header|context|agent|key|timeout|reason|comment|limit|cursor|status|name|kind|input|email|slack|quiet|owner)$`), "--$1"},
	{regexp.MustCompile(`^/input(/.*)$`), "--input, at $1"},
}

// argumentOf returns the flag or argument for a pointer. If no argument sets the value, it
// returns the pointer without its first slash.
func argumentOf(pointer string) string {
	for _, a := range arguments {
		m := a.pointer.FindStringSubmatch(pointer)
		if m == nil {
			continue
		}
		number := ""
		if len(m) > 1 {
			number = m[1]
			if n, err := strconv.Atoi(m[1]); err == nil {
				number = strconv.Itoa(n + 1) // users count from 1
			}
		}
		return strings.ReplaceAll(a.argument, "$1", number)
	}
	return strings.TrimPrefix(pointer, "/")
}

// lists replaces references to lists and members of the API with the corresponding commands and flags.
var lists = strings.NewReplacer("a person of GET /people",
	"a person (askback person list)", "a group of GET /groups", "a group (askback group list)",
	"write time_zone: Europe/Berlin", "add --time-zone, such as --time-zone Europe/Berlin")

// jsonMember matches a fix that is one member of a JSON object, with a text as its value.
var jsonMember = regexp.MustCompile(`^"\w+": "([\w@.:/-]*)"$`)

// problemLine describes a problem in terms of the command line. It leaves out a fix that
// appears to be JSON or to contain names of the API.
func problemLine(p askback.Problem) string {
	text := p.Detail
	fix := lists.Replace(p.Fix)
	if flag := argumentOf(p.Pointer); strings.HasPrefix(flag, "--") {
		fix = jsonMember.ReplaceAllString(fix, "write "+flag+" $1")
	}
	if fix != "" && !strings.ContainsAny(fix, `"{=_`) {
		text += "; " + fix
	}
	switch {
	case p.Pointer == "":
		return text
	case strings.HasPrefix(text, "is "), strings.HasPrefix(text, "has "), strings.HasPrefix(text, "must "):
		return argumentOf(p.Pointer) + " " + text
	}
	return argumentOf(p.Pointer) + ": " + text
}

// serverWarning describes a warning of the server about a new ask. People who cannot answer are not a reason to
// ask again.
func serverWarning(p askback.Problem) string {
	if p.Pointer == "/to" {
		p.Pointer, p.Detail = "", "the ask was made, but "+p.Detail
	}
	return problemLine(p)
}

// problemLines describes each problem of an invalid request. Problems in a file are
// described in terms of the file.
func problemLines(err error, invalid askback.Invalid) (lines []string) {
	var file fileError
	fromFile := errors.As(err, &file)
	for _, p := range invalid {
		if fromFile {
			lines = append(lines, askback.Invalid{p}.Error())
		} else {
			lines = append(lines, problemLine(p))
		}
	}
	return lines
}

// route matches the prefix of errors of the HTTP client.
var route = regexp.MustCompile(`(GET|POST|PUT|DELETE) /[^\s:]*: `)

// withoutRoute returns the message of an error without the HTTP route, which users of commands do not need.
func withoutRoute(err error) string { return route.ReplaceAllString(err.Error(), "") }

// forbidden matches the error for a token of the wrong kind, with the action of the API, which no user knows.
var forbidden = regexp.MustCompile(`^(\w+: )?` + regexp.QuoteMeta(askback.ErrForbidden.Error()) + `$`)

// advice returns the text of a server error for the user of a command, with what to do.
func advice(err error) string {
	text := forbidden.ReplaceAllString(withoutRoute(err), askback.ErrForbidden.Error()+
		"; set ASKBACK_TOKEN to a token of another kind (askback token add --help lists the kinds)")
	if errors.Is(err, askback.ErrUnreachable) && os.Getenv("ASKBACK_URL") != "" {
		text += "; check ASKBACK_URL, and that the server runs there"
	}
	return text + stateAdvice(err)
}

// stateAdvice returns what to do if a file cannot be made in the state directory, as without a home directory.
func stateAdvice(err error) string {
	var file *fs.PathError
	dir, unknown := stateDir()
	if unknown != nil || !errors.As(err, &file) || !errors.As(err, new(syscall.Errno)) ||
		!strings.HasPrefix(file.Path, dir) && !strings.HasPrefix(dir, file.Path) {
		return ""
	}
	return "; the tokens and, without --db, the database are in " + dir +
		": set XDG_STATE_HOME to a folder that this user can write"
}

// checkOptions returns an error if there is only one option, or if two options differ only in the spaces
// around them.
func checkOptions(options []string) error {
	if len(options) == 1 {
		return usage(fmt.Sprintf("there is one option, %q: give at least two options, or none for a free text answer",
			options[0]))
	}
	seen := map[string]bool{}
	for _, o := range options {
		if o = strings.TrimSpace(o); seen[o] {
			return usage(fmt.Sprintf("the option %q is given twice: give each option a different label", o))
		}
		seen[o] = true
	}
	return nil
}
