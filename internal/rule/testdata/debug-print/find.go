package a

func f(x int) {
	fmt.Println("here", x)    //~ nit
	fmt.Printf("DEBUG %v", x) //~ nit
}
