package opencode

import _ "embed"

// Plugin is the plugin of OpenCode that runs askback hook opencode for each event. It must not require
// anything that OpenCode does not provide.
//
//go:embed plugin.js
var Plugin string
