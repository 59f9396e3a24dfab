db.query(`SELECT a FROM t WHERE id = ${id}`); //~ major
const who = req.query.who;
db.query(`
  SELECT a FROM t
  WHERE who = '${who}' //~ blocker
`);
const list = keys.map(key => row[key]).join(",");
db.query(`INSERT INTO t (a) VALUES (${list})`); //~ major
db.query(`SELECT a FROM t WHERE s = '${req.query.schema}'`); //~ blocker
