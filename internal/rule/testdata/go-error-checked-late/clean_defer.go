package a

func f() error {
	rows, err := db.Query(q)
	if err != nil {
		return err
	}
	defer rows.Close()
	other, err := db.Query(q)
	defer mu.Unlock()
	if err != nil {
		return err
	}
	return nil
}
