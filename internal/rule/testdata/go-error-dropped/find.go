package a

func f(tx *sql.Tx, b []byte) {
	json.Unmarshal(b, &v)    //~ major
	tx.Commit()              //~ major
	rows.Scan(&a, &b)        //~ major
	f, _ := os.Open(name)    //~ minor
	b, _ = os.ReadFile(name) //~ minor
}
