package a

func f() (*big.Int, error) {
	token, err := rand.Int(rand.Reader, limit)
	return token, err
}
