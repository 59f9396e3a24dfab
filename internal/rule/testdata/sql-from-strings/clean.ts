db.query(sql`SELECT a FROM t WHERE id = ${id}`);
const help = `select one from the list = ${id}`;
