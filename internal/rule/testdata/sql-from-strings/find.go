package a

func f(db DB, r *http.Request, id string) {
	db.Query("SELECT a FROM t WHERE id = '" + id + "'")                        //~ major
	db.Query(fmt.Sprintf("SELECT a FROM t WHERE id = '%s'", id))               //~ major
	db.Exec(fmt.Sprintf("insert into %s (a) values (%s)", s.getTable(), list)) //~ major
	name := r.FormValue("name")
	db.Exec("DELETE FROM t WHERE name = '" + name + "'") //~ blocker
	db.Query("SELECT a " +
		"FROM t WHERE id = " + id) //~ major
}
