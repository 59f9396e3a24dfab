class A {
  Cursor log(final int type, final long id) {
    return db.rawQuery("SELECT * FROM t WHERE id=" + id + " AND type=" + type + " ORDER BY a", null);
  }

  @Query("SELECT * FROM " + HISTORY_TABLE + " INNER JOIN streams ON id = " + JOIN_STREAM_ID)
  abstract List<Entry> all();
}
