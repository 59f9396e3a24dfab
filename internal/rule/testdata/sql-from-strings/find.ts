db.query(`SELECT a FROM t WHERE id = '${id}'`); //~ major
const who = req.query.who;
db.query(
  `SELECT a FROM t WHERE who = '${who}'`, //~ blocker
);
db.query(`SELECT a FROM t WHERE s = '${req.query.schema}'`); //~ blocker
