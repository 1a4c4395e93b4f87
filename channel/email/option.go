package email

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/askback/askback"
)

// options returns the labels of the options that text selects. The options are on separate lines or separated
// by commas. If a part of text selects no option, or text selects different options depending on where it is
// split, options returns the reason. A question that allows only one answer is not split if a label is the
// whole text.
func options(q askback.Question, text string) (labels []string, why rejection) {
	whole, why := option(q, text)
	if why == twoMeanings || why == "" && !q.MultiSelect {
		return []string{whole}, why
	}
	if why == "" {
		labels = []string{whole}
	}
	listed, why := linesOf(q, text)
	switch {
	case why == twoMeanings:
		return nil, why
	case len(labels) == 0:
		return listed, why
	case why == "" && !slices.Equal(labels, listed):
		return nil, twoMeanings
	}
	return labels, ""
}

// linesOf returns the labels of the options that the lines of text select.
func linesOf(q askback.Question, text string) (labels []string, why rejection) {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "*-• "))
		if line == "" {
			continue
		}
		found, why := listed(q, line)
		if why != "" {
			return nil, why
		}
		for _, label := range found {
			labels = appendNew(labels, label)
		}
	}
	if len(labels) == 0 {
		return nil, notAnOption
	}
	return labels, ""
}

// separators are the signs between the options in a line.
const separators = ",;、，،"

// maxListed is the maximum number of parts of a line. A question has at most 50 options.
const maxListed = 100

// listed returns the labels of the options that a line selects. A label may contain separators, so each
// way to join neighbouring parts is tried. If two ways select different options, the reason is twoMeanings.
func listed(q askback.Question, line string) (labels []string, why rejection) {
	starts, ends := partsOf(line)
	if len(starts) == 0 || len(starts) > maxListed {
		return nil, notAnOption
	}
	longest := 1
	for _, o := range q.Options {
		longest = max(longest, 1+len(strings.FieldsFunc(o.Label, func(r rune) bool {
			return strings.ContainsRune(separators, r)
		})))
	}
	ways := make([][][]string, len(starts)+1) // ways[i] are the selections of the first i parts
	ways[0] = [][]string{nil}
	for i := range starts {
		for j := i; len(ways[i]) > 0 && j < len(starts) && j < i+longest; j++ {
			label, why := option(q, strings.TrimSpace(line[starts[i]:ends[j]]))
			if why == twoMeanings {
				return nil, why
			}
			if why != "" {
				continue
			}
			for _, before := range ways[i] {
				ways[j+1] = appendWay(ways[j+1], appendNew(slices.Clone(before), label))
			}
		}
	}
	switch found := ways[len(starts)]; len(found) {
	case 0:
		return nil, notAnOption
	case 1:
		return found[0], ""
	}
	return nil, twoMeanings
}

// partsOf returns the indexes at which the parts of a line begin and end. A separator in quotation marks does
// not end a part, unless the marks have no pairs.
func partsOf(line string) (starts, ends []int) {
	pairs := strings.Count(line, `"`)%2 == 0 && strings.Count(line, "“") == strings.Count(line, "”")
	start, inQuotes := -1, false
	for i, r := range line + "," {
		if i < len(line) && pairs && strings.ContainsRune(`"“”`, r) {
			inQuotes = !inQuotes
		}
		switch separates := strings.ContainsRune(separators, r) && (!inQuotes || i == len(line)); {
		case separates && start >= 0:
			starts, ends, start = append(starts, start), append(ends, i), -1
		case !separates && start < 0 && !unicode.IsSpace(r):
			start = i
		}
	}
	return starts, ends
}

// appendWay adds a selection of options, if it differs from the others in more than the order. Two selections
// suffice to see that a text can be read in two ways.
func appendWay(ways [][]string, way []string) [][]string {
	for _, w := range ways {
		if len(w) == len(way) && !slices.ContainsFunc(way, func(l string) bool { return !slices.Contains(w, l) }) {
			return ways
		}
	}
	if len(ways) >= 2 {
		return ways
	}
	return append(ways, way)
}

func appendNew(labels []string, label string) []string {
	if slices.Contains(labels, label) {
		return labels
	}
	return append(labels, label)
}

// option returns the label of the option that text selects, by its label or its number. If text selects no
// option or several, it returns the reason.
func option(q askback.Question, text string) (label string, why rejection) {
	if label, why = namedOption(q, text); why != notAnOption {
		return label, why
	}
	// A sign at an end may belong to a label, as in src/*, so the signs are removed one by one.
	for _, bare := range unquoted(text) {
		found, reason := namedOption(q, bare)
		switch {
		case reason == notAnOption:
		case reason == twoMeanings, why == "" && found != label:
			return "", twoMeanings
		default:
			label, why = found, ""
		}
	}
	return label, why
}

func namedOption(q askback.Question, text string) (label string, why rejection) {
	var found []string
	for i, o := range q.Options {
		if o.Label == text {
			found = []string{o.Label}
			break
		}
		if strings.EqualFold(strings.TrimSpace(o.Label), text) || oneLine(o.Label) == oneLine(text) {
			found = append(found, q.Options[i].Label)
		}
	}
	if n := numberOf(text); n >= 1 && n <= len(q.Options) {
		found = appendNew(found, q.Options[n-1].Label)
	}
	switch len(found) {
	case 0:
		return "", notAnOption
	case 1:
		return found[0], ""
	}
	return "", twoMeanings
}

// numberOf returns the number in text, as in 2, #2, 2., 2) and (2), or 0.
func numberOf(text string) int {
	n, err := strconv.Atoi(strings.TrimRight(strings.TrimLeft(text, "#("), ".)"))
	if err != nil {
		return 0
	}
	return n
}

// oneLine returns s in lower case, with single spaces between words and after commas, because mail programs
// break long lines and people leave out spaces.
func oneLine(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(s, ",", ", ")), " "))
}

// quoted matches a text in quotation marks or with a mark of emphasis around it, and a text that ends with a
// full stop or an exclamation mark.
var quoted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + openingSigns + `(.*?)` + closingSigns + `[.。]?[!！]*` + closingSigns + `$`)
})

// maxSigns is the maximum number of bytes of the signs on each side of a text.
const maxSigns = 12

// unquoted returns text without some or all of the signs around it, in each way to remove signs from its ends.
func unquoted(text string) (all []string) {
	m := quoted().FindStringSubmatchIndex(text)
	if m == nil || m[2] == m[3] || m[2] > maxSigns || len(text)-m[3] > maxSigns {
		return nil
	}
	for start := 0; start <= m[2]; start++ {
		for end := len(text); end >= m[3]; end-- {
			if utf8.ValidString(text[start:end]) && end-start < len(text) {
				all = append(all, text[start:end])
			}
		}
	}
	return all
}

// referring matches a text that may refer to an option by its place, such as 2nd, the first one, option B
// and b).
var referring = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:i (?:choose|pick|take|want) )?(?:(?:the|option|choice|answer|number|no\.?|nr\.?) ?)*[#(\[]*` +
		`(?:(\d+)(?:st|nd|rd|th)?|([a-z])|first|second|third|fourth|fifth|last|former|latter)` +
		`[)\].:]*(?: (?:one|option|choice|answer))?(?:,? please)?[.!]*$`)
})

// seemsOption reports whether text may refer to an option of q. A letter refers only to an option that exists.
func seemsOption(q askback.Question, text string) bool {
	m := referring().FindStringSubmatch(text)
	if m == nil || m[2] == "" {
		return m != nil
	}
	return int(strings.ToLower(m[2])[0]-'a') < len(q.Options)
}

// severalWord matches a word that may mean several options.
var severalWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(alone("all|both|none|any")) })
