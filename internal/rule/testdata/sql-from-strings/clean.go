package a

func f(db DB, id string) {
	db.Query("SELECT a FROM t WHERE id = $1", id)
	db.Query("SELECT "+columns+" FROM t WHERE id = ?", id)
	db.Query(fmt.Sprintf("SELECT a FROM %s WHERE id = ?", table), id)
	db.Query("SELECT a FROM t WHERE id IN (" + placeholders(3) + ")")
	db.Query(fmt.Sprintf("SELECT a FROM t LIMIT %d", n))
	db.Query(fmt.Sprintf("SELECT %s FROM t WHERE %s = %s", db.QuoteName(a), db.QuoteName(b), db.QuoteName(c)))
	log.Print("Select a file from " + id)
	// db.Query("SELECT a FROM t WHERE id = '" + id + "'")
}
