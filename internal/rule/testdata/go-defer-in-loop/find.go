package a

func f() {
	for _, n := range names {
		mu.Lock()
		defer mu.Unlock() //~ major
		file := open(n)
		if file != nil {
			defer file.Close() //~ major
		}
	}
}
