package clienttest

import (
	"encoding/json"
	"strings"
)

// ContentText returns the text of the content of a message to a model. The content is a JSON string, or an
// array of text blocks. ContentText joins the texts of the blocks with line feeds. It returns other JSON
// unchanged.
func ContentText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return string(content)
	}
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		texts[i] = b.Text
	}
	return strings.Join(texts, "\n")
}
