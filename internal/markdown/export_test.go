package markdown

// Work returns how many bytes are looked at to read a text.
func Work(src string) int {
	var p parser
	p.blocks(lines(src), 0)
	return p.work
}
