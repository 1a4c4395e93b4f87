package slacktest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf16"
)

// A Text is a text object.
type Text struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Emoji    *bool  `json:"emoji,omitempty"`
	Verbatim bool   `json:"verbatim,omitempty"`
}

// An Option is a choice of an element.
type Option struct {
	Text        *Text  `json:"text"`
	Value       string `json:"value"`
	Description *Text  `json:"description,omitempty"`
}

// A Confirm is the dialog that Slack shows before it sends an action.
type Confirm struct {
	Title   *Text  `json:"title"`
	Text    *Text  `json:"text"`
	Confirm *Text  `json:"confirm"`
	Deny    *Text  `json:"deny"`
	Style   string `json:"style,omitempty"`
}

// An Element is an interactive element.
type Element struct {
	Type               string   `json:"type"`
	ActionID           string   `json:"action_id,omitempty"`
	Text               *Text    `json:"text,omitempty"`
	Value              string   `json:"value,omitempty"`
	URL                string   `json:"url,omitempty"`
	Style              string   `json:"style,omitempty"`
	AccessibilityLabel string   `json:"accessibility_label,omitempty"`
	Confirm            *Confirm `json:"confirm,omitempty"`
	Placeholder        *Text    `json:"placeholder,omitempty"`
	Options            []Option `json:"options,omitempty"`
	InitialOption      *Option  `json:"initial_option,omitempty"`
	InitialOptions     []Option `json:"initial_options,omitempty"`
	InitialValue       string   `json:"initial_value,omitempty"`
	Multiline          bool     `json:"multiline,omitempty"`
	MinLength          int      `json:"min_length,omitempty"`
	MaxLength          int      `json:"max_length,omitempty"`
}

// A Block is a block of a message or of a modal.
type Block struct {
	Type     string          `json:"type"`
	BlockID  string          `json:"block_id,omitempty"`
	Text     *Text           `json:"text,omitempty"`
	Label    *Text           `json:"label,omitempty"`
	Hint     *Text           `json:"hint,omitempty"`
	Element  *Element        `json:"element,omitempty"`
	Optional bool            `json:"optional,omitempty"`
	Dispatch bool            `json:"dispatch_action,omitempty"`
	Raw      json.RawMessage `json:"elements,omitempty"`

	Elements []Element `json:"-"` // for actions and context
	Rich     []Rich    `json:"-"` // for rich_text
}

// A Rich is an element of a rich text.
type Rich struct {
	Type     string     `json:"type"`
	Elements []RichPart `json:"elements"`
	Border   int        `json:"border,omitempty"`
}

// A RichPart is a text or a link of a rich text.
type RichPart struct {
	Type  string          `json:"type"`
	Text  string          `json:"text,omitempty"`
	URL   string          `json:"url,omitempty"`
	Style map[string]bool `json:"style,omitempty"`
}

// Limits from docs.slack.dev/reference/block-kit. The total of a message is not documented. Slack replies
// msg_blocks_too_long slightly above maxTotal.
const (
	maxMessageBlocks = 50
	maxViewBlocks    = 100
	maxTotal         = 13_000
	maxID            = 255
	maxFew           = 10 // options of radio buttons and checkboxes, elements of a context
)

// length returns the length of a text as Slack counts it, in UTF-16 after &, < and > are escaped.
func length(s string) int { return len(utf16.Encode([]rune(html.EscapeString(s)))) }

// parseBlocks parses blocks strictly. It returns an error if the number of blocks is larger than most, or if
// Slack does not document a part of a block.
func parseBlocks(raw string, most int) ([]Block, error) {
	var blocks []Block
	if err := strict([]byte(raw), &blocks); err != nil {
		return nil, err
	}
	if len(blocks) > most {
		return nil, fmt.Errorf("no more than %d items allowed", most)
	}
	ids, total := map[string]bool{}, 0
	for i := range blocks {
		b := &blocks[i]
		if err := b.check(); err != nil {
			return nil, fmt.Errorf("/blocks/%d: %w", i, err)
		}
		if b.BlockID == "" {
			b.BlockID = fmt.Sprintf("b%d", i)
		}
		if ids[b.BlockID] || len(b.BlockID) > maxID {
			return nil, fmt.Errorf("/blocks/%d/block_id: must be unique and have at most %d characters", i, maxID)
		}
		ids[b.BlockID] = true
		total += length(b.Shown())
	}
	if most == maxMessageBlocks && total > maxTotal {
		return nil, errTooLong
	}
	return blocks, nil
}

var errTooLong = errors.New("msg_blocks_too_long")

func strict(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func (b *Block) check() error {
	switch b.Type {
	case "header":
		return plain("text", b.Text, 150, true)
	case "section":
		return any1("text", b.Text, 3000)
	case "divider":
		return nil
	case "context":
		return b.context()
	case "actions":
		return b.actions()
	case "rich_text":
		return b.rich()
	case "input":
		return b.input()
	}
	return fmt.Errorf("unsupported type: %s", b.Type)
}

func (b *Block) context() error {
	var texts []Text
	if err := strict(b.Raw, &texts); err != nil {
		return err
	}
	if len(texts) == 0 || len(texts) > maxFew {
		return errors.New("a context has 1 to 10 elements")
	}
	for i := range texts {
		if err := any1("elements", &texts[i], 3000); err != nil {
			return err
		}
		b.Elements = append(b.Elements, Element{Type: texts[i].Type, Text: &texts[i]})
	}
	return nil
}

func (b *Block) actions() error {
	if err := strict(b.Raw, &b.Elements); err != nil {
		return err
	}
	if len(b.Elements) == 0 || len(b.Elements) > 25 {
		return errors.New("actions have 1 to 25 elements")
	}
	ids := map[string]bool{}
	for i := range b.Elements {
		e := &b.Elements[i]
		if err := e.check(false); err != nil {
			return fmt.Errorf("/elements/%d: %w", i, err)
		}
		if ids[e.ActionID] {
			return fmt.Errorf("/elements/%d: action_id %q is used twice", i, e.ActionID)
		}
		ids[e.ActionID] = true
	}
	return nil
}

func (b *Block) rich() error {
	if err := strict(b.Raw, &b.Rich); err != nil {
		return err
	}
	if len(b.Rich) == 0 {
		return errors.New("a rich text has elements")
	}
	for _, r := range b.Rich {
		if r.Type != "rich_text_section" && r.Type != "rich_text_preformatted" && r.Type != "rich_text_quote" ||
			len(r.Elements) == 0 {
			return fmt.Errorf("unsupported or empty %s", r.Type)
		}
		for _, p := range r.Elements {
			switch {
			case p.Type == "text" && p.Text != "" && length(p.Text) <= 3000:
			case p.Type == "link" && p.URL != "" && len(p.URL) <= 3000:
			default:
				return fmt.Errorf("a %s without content, or too long, or unsupported", p.Type)
			}
		}
	}
	return nil
}

func (b *Block) input() error {
	if err := plain("label", b.Label, 2000, true); err != nil {
		return err
	}
	if err := plain("hint", b.Hint, 2000, false); err != nil {
		return err
	}
	if b.Element == nil {
		return errors.New("an input has an element")
	}
	return b.Element.check(true)
}

// check returns an error if Slack would reject an element of actions or, if input is true, of an input.
func (e *Element) check(input bool) error {
	if e.ActionID == "" || len(e.ActionID) > maxID {
		return fmt.Errorf("an action_id has 1 to %d characters", maxID)
	}
	if err := e.Confirm.check(); err != nil {
		return err
	}
	if err := plain("placeholder", e.Placeholder, 150, false); err != nil {
		return err
	}
	switch e.Type {
	case "button":
		return e.button(input)
	case "radio_buttons", "checkboxes":
		return e.options(maxFew)
	case "static_select", "multi_static_select":
		return e.options(100)
	case "plain_text_input":
		if !input {
			return errors.New("a plain_text_input needs an input block")
		}
		if e.MaxLength < 0 || e.MaxLength > 3000 || e.MinLength > 3000 || len(e.InitialValue) > 3000 {
			return errors.New("a plain_text_input has at most 3000 characters")
		}
		return nil
	}
	return fmt.Errorf("unsupported type: %s", e.Type)
}

func (e *Element) button(input bool) error {
	switch {
	case input:
		return errors.New("a button is no input")
	case len(e.Value) > 2000 || len(e.URL) > 3000:
		return errors.New("value or url is too long")
	case e.Style != "" && e.Style != "primary" && e.Style != "danger":
		return errors.New("style is primary or danger")
	case e.AccessibilityLabel != "" && length(e.AccessibilityLabel) > 75:
		return errors.New("accessibility_label has at most 75 characters")
	}
	return plain("text", e.Text, 75, true)
}

func (e *Element) options(most int) error {
	if len(e.Options) == 0 || len(e.Options) > most {
		return fmt.Errorf("%s has 1 to %d options", e.Type, most)
	}
	values := map[string]bool{}
	for _, o := range e.Options {
		if o.Value == "" || len(o.Value) > 150 || values[o.Value] {
			return errors.New("the values of options are unique and have 1 to 150 characters")
		}
		values[o.Value] = true
		check := plain
		if e.Type == "radio_buttons" || e.Type == "checkboxes" {
			check = func(name string, t *Text, most int, _ bool) error { return any1(name, t, most) }
		}
		if err := check("text", o.Text, 75, true); err != nil {
			return err
		}
		if o.Description != nil && length(o.Description.Text) > 75 {
			return errors.New("the description of an option has at most 75 characters")
		}
	}
	return nil
}

func (c *Confirm) check() error {
	if c == nil {
		return nil
	}
	return errors.Join(plain("title", c.Title, 100, true), any1("text", c.Text, 300),
		plain("confirm", c.Confirm, 30, true), plain("deny", c.Deny, 30, true))
}

// plain returns an error if Slack would reject a text that must not have markup.
func plain(name string, t *Text, most int, required bool) error {
	if t == nil && !required {
		return nil
	}
	if t == nil || t.Type != "plain_text" {
		return fmt.Errorf("%s: must be plain_text", name)
	}
	return any1(name, t, most)
}

// any1 returns an error if Slack would reject a text with or without markup.
func any1(name string, t *Text, most int) error {
	switch {
	case t == nil || t.Text == "":
		return fmt.Errorf("%s: must be more than 0 characters", name)
	case t.Type != "plain_text" && t.Type != "mrkdwn":
		return fmt.Errorf("%s: unsupported type %q", name, t.Type)
	case t.Type == "mrkdwn" && t.Emoji != nil:
		return fmt.Errorf("%s: emoji is only for plain_text", name)
	case length(t.Text) > most:
		return fmt.Errorf("%s: must be less than %d characters", name, most+1)
	}
	return nil
}

// Shown returns the text of a block as Slack shows it.
func (b Block) Shown() string {
	var w strings.Builder
	put := func(s string) { w.WriteString(s + "\n") }
	for _, t := range []*Text{b.Text, b.Label, b.Hint} {
		if t != nil {
			put(t.Text)
		}
	}
	for _, r := range b.Rich {
		for _, p := range r.Elements {
			w.WriteString(p.Text)
		}
		w.WriteByte('\n')
	}
	elements := b.Elements
	if b.Element != nil {
		elements = append(elements, *b.Element)
	}
	for _, e := range elements {
		if e.Text != nil {
			put(e.Text.Text)
		}
		for _, o := range e.Options {
			put(o.Text.Text)
		}
	}
	return w.String()
}

// markup matches the parts of markup on which Slack acts.
var markup = regexp.MustCompile(`<[^>]*>`)

// live returns the parts of text and blocks on which Slack would act: mentions and links.
func live(text string, blocks []Block) (found []string) {
	found = markup.FindAllString(text, -1)
	look := func(t *Text) {
		if t != nil && t.Type == "mrkdwn" {
			found = append(found, markup.FindAllString(t.Text, -1)...)
		}
	}
	for _, b := range blocks {
		look(b.Text)
		for _, e := range b.Elements {
			look(e.Text)
			for _, o := range e.Options {
				look(o.Text)
			}
		}
	}
	return found
}
