package a

func f(tx *sql.Tx, b []byte) {
	json.Unmarshal(b, &v)    //~ major
	json.Unmarshal(b, &info) //~ major
	if _, ok := other["command"]; !ok {
		return
	}
	tx.Commit()       //~ major
	rows.Scan(&a, &b) //~ major
}
