package markdown

// Work returns how many bytes Parse reads, counting repeated reads.
func Work(src string) int {
	var p parser
	p.blocks(lines(src), 0)
	return p.work
}
