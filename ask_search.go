package askback

import "strings"

// maxSearchWords is the maximum number of words of a search. Further words are ignored, as in a search of
// settled asks. The limit is needed because an agent can search its own asks, which can have megabytes.
const maxSearchWords = 20

// Contains reports whether the request of the ask contains each word of search, ignoring case and quotation
// marks. A word may be a part of a longer word. Only the first 20 words count. If search has no words,
// Contains returns true. A frontend that filters pending asks with Contains selects the same asks as a
// [Query] with Search.
func (a Ask) Contains(search string) bool {
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(search, `"`, " ")))
	if len(words) == 0 {
		return true
	}
	words = words[:min(len(words), maxSearchWords)]
	texts := a.texts()
	for i, t := range texts {
		texts[i] = strings.ToLower(t)
	}
	for _, w := range words {
		if !containedInOne(texts, w) {
			return false
		}
	}
	return true
}

func containedInOne(texts []string, word string) bool {
	for _, t := range texts {
		if strings.Contains(t, word) {
			return true
		}
	}
	return false
}

// texts returns the texts of the request that a search examines. The context and the arguments are returned
// as JSON.
func (a Ask) texts() []string {
	texts := append([]string{a.Title, a.Agent, string(a.Context)}, a.Tags...)
	for _, q := range a.Questions {
		texts = append(texts, q.Text, q.Header)
		for _, o := range q.Options {
			texts = append(texts, o.Label, o.Description)
		}
	}
	if c := a.Confirmation; c != nil {
		texts = append(texts, c.ToolName, c.Server, c.Description, c.InputPreview, c.Context, string(c.Input))
	}
	return texts
}
