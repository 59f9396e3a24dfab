db.query(sql`SELECT a FROM t WHERE id = ${id}`);
const help = `select one from the list = ${id}`;
const values = keys.map((key, i) => "$" + (i + 1)).join(",");
db.query(`INSERT INTO t (${columns}) VALUES (${values})`, parameters);
db.query(`INSERT INTO t (${columns}) VALUES (${marks})`, parameters);
db.query(`SELECT * FROM information_schema.tables WHERE table_catalog = '${this.dbName}'`);
db.query(`select * from event where website_id = {websiteId:UUID} and ${filter}`);
db.query(`update a set created = '${new Date().toISOString()}'`);
