package a

func f() error {
	rows, err := db.Query(q)
	defer rows.Close() //~ major
	if err != nil {
		return err
	}
	return nil
}
