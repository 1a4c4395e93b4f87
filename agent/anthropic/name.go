package anthropic

import sdk "github.com/anthropics/anthropic-sdk-go"

// Newest returns the name of the newest model of a family (sonnet, opus or haiku) in this release's client
// library. For another family, it returns "".
func Newest(family string) string {
	switch family {
	case "sonnet":
		return sdk.ModelClaudeSonnet5_5
	case "opus":
		return sdk.ModelClaudeOpus5_5
	case "haiku":
		return sdk.ModelClaudeHaiku5_5
	}
	return ""
}
