package a

func f(tx *sql.Tx, b []byte) {
	json.Unmarshal(b, &v)        //~ major
	tx.Commit()                  //~ major
	rows.Scan(&a, &b)            //~ major
	data, _ := os.ReadFile(name) //~ minor
}
