package a

func f(db DB, r *http.Request, id string) {
	db.Query("SELECT a FROM t WHERE id = '" + id + "'")          //~ major
	db.Query(fmt.Sprintf("SELECT a FROM t WHERE id = '%s'", id)) //~ major
	db.Query("SELECT a FROM t WHERE id = " + id)                 //~ major
	name := r.FormValue("name")
	db.Exec("DELETE FROM t WHERE name = '" + name + "'") //~ blocker
}
