package a

func f(tx *sql.Tx, b []byte) error {
	os.Remove(tmp)
	_ = tx.Rollback()
	_ = os.Rename(a, b)
	data, _ := os.ReadFile(name) // absent is fine
	n, _ := strconv.Atoi(s)
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	data, _ := json.Marshal(user)
	json.Unmarshal(data, &fields)
	json.Unmarshal(b, &info)
	if _, ok := info["command"]; !ok {
		return errInput
	}
	err = errors.Join(err,
		tx.Commit())
	return json.Unmarshal(b, &v)
}
