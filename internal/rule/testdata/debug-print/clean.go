package a

func f(x int) {
	fmt.Println("files:", x)
	// fmt.Println("here", x)
	log.Printf("debugging is off")
	println("block", x)
}
