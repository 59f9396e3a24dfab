package a

func f() int {
	otp := rand.Intn(1000000) //~ major
	return otp
}
