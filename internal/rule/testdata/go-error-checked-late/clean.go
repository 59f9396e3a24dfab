package a

func f() error {
	n, err := r.Read(buf)
	total += n
	if err != nil {
		return err
	}
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	log.Print(resp.Status)
	d, err := load()
	e, ok := d.(error)
	if err != nil {
		return e
	}
	return nil
}
