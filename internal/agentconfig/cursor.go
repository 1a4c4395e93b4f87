package agentconfig

func cursor(_ Scope, o Options) ([]File, error) {
	return []File{jsonFile(".cursor/mcp.json", member(server{}.withAddress(o, "${env:"+TokenVariable+"}"), "mcpServers", "askback"))}, nil
}
