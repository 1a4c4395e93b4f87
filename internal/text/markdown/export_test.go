package markdown

// Work returns the number of bytes that Parse reads. A byte that is read twice counts twice.
func Work(src string) int {
	var p parser
	p.blocks(lines(src), 0)
	return p.work
}
