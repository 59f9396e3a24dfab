class A {
  Cursor log(final int type, final long id) {
    return db.rawQuery("SELECT * FROM t WHERE id=" + id + " AND type=" + type + " ORDER BY a", null);
  }
}
