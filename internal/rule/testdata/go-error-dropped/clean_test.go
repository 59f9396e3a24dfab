package a

func f(b []byte) {
	json.Unmarshal(b, &v)
}
