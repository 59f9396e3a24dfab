package a

func f() error {
	resp, err := http.Get(url)
	log.Print(resp.Status) //~ major
	if err != nil {
		return err
	}
	return nil
}
