package a

func f(dir string) {
	exec.Command("sh", "-c", "ls "+dir)
}
