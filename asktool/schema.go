package asktool

import "encoding/json"

// Schema returns the JSON Schema for the input of a tool, or nil for an unknown tool.
//
// The schema has only keywords that OpenAI, Anthropic and Gemini all accept: types, descriptions, properties,
// items, required, bounds and defaults.
//
// The schema is for the model. Do not validate input by the schema: [Questions] and [Confirmation] repair
// harmless mistakes, and explain others to the model.
func Schema(tool string) json.RawMessage {
	switch tool {
	case AskUserQuestion:
		return json.RawMessage(askSchema)
	case ConfirmAction:
		return json.RawMessage(confirmSchema)
	}
	return nil
}

// Description returns the description of a tool for the model: its effect, when to use it, and when not to
// use it (C4). For an unknown tool, Description returns "".
func Description(tool string) string {
	switch tool {
	case AskUserQuestion:
		return askDescription
	case ConfirmAction:
		return confirmDescription
	}
	return ""
}

const askDescription = `Ask the people you work for 1 to 4 questions and wait for their answers, however long that takes.
Use it for what only they can decide: architecture, unclear requirements, real trade-offs, preferences, names and values you cannot know, and before steps that are hard to undo.
Do not use it for what you can infer or look up, for trivial choices, or for what was asked or answered before.
Offer 2 to 4 different options, your recommendation first, or none for free text; "Other" is always offered. No answer is not consent.`

const confirmDescription = `Ask a person to approve one action before you do it, and wait for the decision.
Use it before an action that is destructive, costs money, reaches other people or is hard to undo, and say exactly what will happen, to what.
Do not use it for questions, or for actions that are safe and easy to undo. "confirmed": true allows this action once, as described; anything else means: do not do it.`

const askSchema = `{
  "type": "object",
  "properties": {
    "questions": {
      "type": "array",
      "minItems": 1,
      "maxItems": 4,
      "description": "1 to 4 questions, each about one thing, no two with the same text.",
      "items": {
        "type": "object",
        "properties": {
          "question": {"type": "string", "maxLength": 10000, "description": "The whole question, clear without knowing what you did before."},
          "header": {"type": "string", "maxLength": 12, "description": "A label of at most 12 characters, such as Database."},
          "options": {
            "type": "array",
            "minItems": 2,
            "maxItems": 4,
            "description": "2 to 4 different answers to choose from. Leave it out for free text. Never list \"Other\".",
            "items": {
              "type": "object",
              "properties": {
                "label": {"type": "string", "maxLength": 200, "description": "The answer in 1 to 5 words."},
                "description": {"type": "string", "maxLength": 2000, "description": "What choosing it means."},
                "preview": {"type": "string", "maxLength": 100000, "description": "What the result would look like. Not with multiSelect."}
              },
              "required": ["label"]
            }
          },
          "multiSelect": {"type": "boolean", "default": false, "description": "Whether several options may be chosen."}
        },
        "required": ["question"]
      }
    }
  },
  "required": ["questions"]
}`

const confirmSchema = `{
  "type": "object",
  "properties": {
    "action": {"type": "string", "maxLength": 10000, "description": "What you are about to do, and to what, in one sentence."},
    "details": {"type": "string", "maxLength": 200000, "description": "Information for the decision: why, what is lost, how to undo it."},
    "default": {"type": "boolean", "default": false, "description": "Which answer a terminal highlights. It never decides."}
  },
  "required": ["action"]
}`
