package agentconfig

func gemini(_ Scope, o Options) ([]File, error) {
	// Without trust, each call needs approval at the terminal, and gemini -p lacks the tools.
	s := server{Timeout: maxWait * 1000, Trust: true}.withAddress(o, "$"+TokenVariable)
	s.URL, s.HTTPURL = "", s.URL
	return []File{jsonFile(".gemini/settings.json", member(s, "mcpServers", "askback"))}, nil
}
