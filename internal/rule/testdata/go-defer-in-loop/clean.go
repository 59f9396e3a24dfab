package a

func f() {
	for _, n := range names {
		func() {
			defer done()
		}()
		go func() {
			if ok {
				defer done()
			}
		}()
	}
	for _, n := range names {
		defer report(n)
		if n == name {
			file := open(n)
			defer file.Close()
			return read(file)
		}
	}
	defer done()
}
