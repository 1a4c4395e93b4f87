package agent

import "slices"

// DangerousWords returns the words and the pairs of words that make a name dangerous.
func DangerousWords() []string {
	words := slices.Concat(dangerousWords, dangerousNouns)
	for _, pair := range dangerousPairs {
		words = append(words, pair[0]+" "+pair[1])
	}
	return words
}
