package chunker

// Worn returns a chunker that gave up as many parses as it takes until it waits for a
// tenth of ParseTime alone.
func Worn() *Chunker {
	c := New()
	c.slow.Store(mostSlow)
	return c
}

// Frugal returns a chunker that gives up parses once the heap has grown.
func Frugal() *Chunker {
	c := New()
	c.heap = 0
	return c
}
