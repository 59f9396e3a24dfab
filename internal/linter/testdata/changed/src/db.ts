import { pool } from "./pool";

export async function find(req, res) {
  const rows = await pool.query("select * from users where name = '" + req.query.name + "'");
  res.json(rows);
}
